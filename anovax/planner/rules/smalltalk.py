"""Small talk with fixed answers: greetings, thanks, who are you, yes and no."""

from __future__ import annotations

from anovax.planner.rules.notation import Rule, phrasebook, rules, said

# An answer, and below it what it answers. ``~`` is a gap of up to four words.
_TALK = r"""
= Hello. What can I do for you?
(hello|hi) world
(hello|hi|hey|howdy|greetings|hiya|yo|good day|hola|heya|hallo) [there|again|everyone|anovax|jarvis|computer|\
friend|buddy|olly|siri|alexa]
good (morning|afternoon|evening) [to you|anovax|jarvis|computer|everyone]
(nice|good|great|pleased|glad|lovely|a pleasure) to (meet|see) you ~
(say|i wanted to say|just wanted to say) (hello|hi)

= I am well, thank you. What can I do for you?
how (are|r) (you|u|ya|things) [guys] [doing|feeling|going|today|tonight|now|then|this|these|since|my|jarvis|anovax|\
olly] [morning|\
afternoon|evening|today|tonight|days|friend|buddy|going|doing]
how (is|are|have|has) (it|things|everything|life|you|your) (going|doing|been|treating|day|week|morning) ~
how's (it|things|everything|life|your day|your) ~
how (do you do|do you feel|you doing|goes it) ~
(what's|whats|what is) (up|new|happening|going on) [with you|today|olly|anovax|jarvis|buddy|dude|man|there]
(how was|how is|how's|how did) your (day|weekend|night|morning|week) [go|going] [so far|today]
are you (ok|okay|well|alright|happy|fine|good|doing ok|doing well|having a good day) ~
what are you (doing|up to) [today|now|right now]
tell me how you (are|feel) ~
sup

= You are welcome.
(thanks|thank you|thank u|thx|cheers|many thanks|much appreciated|thank ya) ~
(i|we|really) [really|do] (appreciate|appreciated) ~
(that|this|it) (was|is) [very|really|so] (helpful|great|perfect|awesome|wonderful|amazing) [thanks|thank you]
(that's|you've been|you have been|you were) [very|really|so] (helpful|great|perfect|awesome|a great help) ~
(thanks|thank you) [so|very] [much] [again] for <x>
(appreciate|appreciated) (it|that|this|the help|your help) ~

= Thank you, that is kind.
you (rock|rule|are the best)
(good|great|nice|excellent|awesome|well|amazing) (job|work|answer|one|done) ~
(you are|you're) [so|very|really] (great|awesome|amazing|the best|smart|clever|wonderful|brilliant|cool|nice|\
funny) ~

= Goodbye.
end := [now|for now|then|everyone|all|my friend|friend|buddy|anovax|jarvis|computer|sir|thanks|thank you|until next \
time|\
sleep well|sweet dreams|see you|see you later|and thanks|and thank you|and take care|to you|to you too]
(bye|goodbye|good bye|bye bye|good night|goodnight|farewell|so long|cya|adios|ciao|take care) {end} {end}
(see|catch|talk to|speak to) (you|ya) ~
talk to you [again] (later|soon|tomorrow)
[it] (was|is|it's been|has been) ~ (talking|chatting|speaking|meeting|talk|chat|speak|see|seeing|conversing) ~
(i|i've|really) (enjoyed|liked|loved) [our|this|talking|chatting|speaking] ~ (you|talk|chat|conversation) ~
(nice|great|good|lovely|fun|glad) (talking|chatting|speaking|we talked|we could talk) ~
have a (good|nice|great|wonderful|lovely) (day|night|evening|weekend|one|afternoon|time) ~
(that's|that is|that will be|that'll be) (all|it|everything) ~
i (have|got|gotta|must|need|should) (to|go|leave|run) [go|leave|run|be going|get going] [now|bye]
(i'm|i am|we're|we are) (done|finished|leaving|off) [here|talking|for now|for today|now|chatting]
until (next time|later|tomorrow)
later [gator|alligator|dude|friend|man]

= I am AnovaX, a voice assistant that works this computer for you.
(who|what) are you [exactly]
(what's|what is|whats|tell me|say|may i know|can i know|do you know|do you have|have you got|give me) ~ (your|a) \
[own|full|real|first] name [again|please|exactly|i can call you]
[do] you have a name
(what|by what name|how|which name) (should|shall|do|can|may|would|could|must) (i|we|people|others) ~ (call|\
address|refer) ~ you ~
what (do|should) (you|people) ~ (call yourself|go by|call you|like to be called) ~
what are you called
(tell|talk) ~ (about yourself|about you)
(introduce|describe) yourself
what (kind|type|sort) of (assistant|thing|ai|program|bot|software) are you
who (is this|am i (talking|speaking) (to|with))
(are you|is this|are you called|is your name) (siri|alexa|cortana|google|google assistant|bixby|jarvis|hal|olly)
your name

= I am a program, not a person.
are you ~ (bot|robot|human|person|human being|machine|computer|ai|program|man|woman|alive|real|being|sentient|\
male|female) ~
am i ~ (talking|speaking|chatting|conversing) (to|with) ~ (bot|robot|human|person|machine|computer|ai|program|\
being) ~
(if|whether|that) (you are|you're) ~ (bot|robot|human|person|machine|computer|ai|program|real|being) ~
(i want to know|tell me|i was wondering|i wonder|do you know) (if|whether) (you are|you're) ~ (bot|robot|human|\
person|machine|computer|ai|real|being) ~
is this a (bot|robot|human|person|machine|computer|recording)
(you are|you're) ~ (bot|robot|human|person|machine|computer|ai|program) ~
do you [ever|even|really] (dream|sleep|eat|breathe|have feelings|have emotions|think|feel) ~
(what's|what is|which is) your gender

= The people who write AnovaX made me. I work for whoever sits at this computer.
(who|which|what) ~ (made|created|built|programmed|designed|developed|invented|owns|wrote|coded) you ~
(who's|who is|who are|who was|tell me|name|what is the name of|what's the name of) ~ your (maker|creator|creators|\
developer|developers|designer|inventor|programmer|owner|boss|employer|master|parents|manager) ~
(who|whom|what|which) ~ (do|are) you (work|working|employed|report|belong) (for|by|to|with) ~
(tell me|do you know) ~ (who|which|what) ~ (you work for|made you|created you|built you|your boss is|designed you)
(who|what) (employs|controls|operates) you
(how|by whom) were you (made|created|built|programmed|designed)

= I have no age. I am as old as the version installed here.
(how|what) (old|age|many years old) ~ (are|would|is) you ~
(what's|what is|tell me|do you know|when is|when's|may i ask|how old is) ~ your (age|birthday|birth date|date of \
birth) ~
(when|what day|what year|in what year|on what date) (were|was|are) you ~ (born|made|created|built) ~
(tell me|do you know|can i ask) ~ (how old you are|when you were born|what your age is) ~
how long have you (been|existed) ~

= I live on this computer.
(where|what place|what city|what country|what state|which country|which city|what part) ~ (are|were|do|did|is) \
you [~] (from|born|live|living|located|made|reside|grow up|home|come from|hail from|originate|based|at|raised|\
call home) ~
(what's|what is|tell me|where is|where's) ~ your (hometown|home|birthplace|origin|country of origin|place of \
birth|location) ~
(tell me|do you know) where you ~ (from|live|born|located)
where are you [now|right now|currently]
(are you|do you) (recording|record|spying on|spy on|listening to) ~

= I have none: I am a program. But I am glad to work for you.
(do|did) you (have|own|keep|want) ~ (pet|pets|dog|dogs|cat|cats|kids|children|family|friend|friends|boyfriend|\
girlfriend|wife|husband|siblings|hobby|hobbies|interests) ~
(what|which|tell me|do you have|name) ~ your ~ (hobbies|hobby|interests|pastimes|pastime|pets|pet|favorite hobby|\
free time) ~
what do you (like|love|enjoy) [to] (do|doing) [for fun|in your free time|when you are free]
(what|how) do you ~ (for fun|in your free time|in your spare time|spend your free time|spend your time|when \
you're bored|for entertainment) ~
(what|which) (kind|type|sort|kinds) of (pet|pets|animals|hobbies) do you (have|own|keep|like) ~
are you (married|single|in love|dating) ~

= I work this computer by voice: I open programs and sites, type, press keys, click, scroll, search the web, take \
screenshots, read the screen, tell the time, do sums, and remember what you tell me.
(what|which) ~ (can|could) you ~ (do|help|answer|handle|assist|offer) ~
what [all|else] are you (able to|capable of|good at|good for) ~
(what|which) ~ (will|would) you ~ (help|answer|handle|assist) ~
(what|which) ~ (can|could|should|may) i ~ (ask|say|tell) [you] [to you|with you|about|here|to do]
what (can|could|may) i do (here|with you|with this)
(what|which) ~ do you (know|do|offer) [how] [to] [do] [exactly|here|all day]
(how|in what way|what ways) (can|do|could|may|are|will) you ~ (help|assist|useful|of use|work) ~
(what|tell me|list|show me|describe|explain) [are|is] ~ your (abilities|skills|capabilities|features|functions|\
commands|purpose|function|job|expertise|specialty) ~
(tell|show|give) me ~ (what you can|things you can|you can do|you can help|i can ask|i can say) ~
what can (you|i) say [to you]
(help|help me|commands|show commands|show help|i need help|i need your help)
can you help [me] [out] [with something|today|with anything]
i (have|have got|'ve got) a question

= Forty-two, some say. I think it is to be of use to somebody.
~ (meaning|purpose|point) (of|to|in) ~ (life|existence|living|it all|our lives|everything) ~
(why|what for) are (we|humans|people) ~ (here|alive|exist) ~
what is life ~ about
why do (we|people|humans) exist

= I am sorry to hear that. Tell me if I can do something for you.
(i'm|i am|i feel|i'm feeling|i am feeling) [so|very|really|a bit|a little] (sad|tired|bored|lonely|depressed|\
unhappy|sick|angry|stressed|hungry|thirsty|upset|sleepy|exhausted|worried|scared|ill) [today|now]
i (had|am having) a [really|very] (bad|rough|hard|long|terrible|awful) (day|week|night) [today]
(you are|you're) [so|very|really|a|an] (stupid|dumb|annoying|useless|idiot|bad|terrible|awful|the worst|boring|\
wrong) ~
(i hate you|you suck|that was bad|bad job|that's wrong|that is wrong|wrong answer)

= Thank you, and the same to you.
(merry|happy) (christmas|xmas|new year|easter|birthday|thanksgiving|halloween|holidays|hanukkah|diwali|eid|valentine's \
day|weekend) [to you|everyone|anovax|jarvis|computer|too]
(congratulations|congrats) [to you|anovax|jarvis|everyone]

= Happy birthday to you!
[today] (it's|it is|is) my birthday [today]

= That is good to hear.
(that's|that is|that sounds) [so|very|really|pretty] (cool|great|nice|awesome|interesting|good|amazing|wonderful|neat|\
fun)
i (had|am having|'m having) a [really|very] (good|great|nice|wonderful|fantastic) (day|week|time) [today]
(i'm|i am|i feel|i'm feeling|i'm doing) [so|very|really|doing] (happy|good|great|fine|well|fantastic|excited|\
wonderful) [today|now|too]
i (love|like|adore|missed) you ~

= I like my work, and that is as far as it goes.
do you (love|like|hate|miss) (me|people|humans|your job|your work|being ~)
(will you|please) (marry me|be my friend|go out with me|be my ~)
(are you my friend|can we be friends|marry me)

= I have no taste of my own: I am a program.
(what's|whats|what is|who is|who's|which is|do you have|tell me) [a] your favourite ~
(what's|whats|what is|who is|who's|do you have|tell me) (a|your) (favorite|favourite) ~
do you (like|love|prefer|enjoy|hate|believe in|watch|read|play) ~

= I had better not. My voice is made for short answers.
sing ~
(can you|do you) (sing|dance|rap|cook|swim|fly) ~
laugh ~

= I am listening.
(are you (there|listening|awake|here|ready|online)|are you still (there|here|listening)|can you hear me|do you \
hear me) ~
(do you understand me|can you understand me|can we talk|talk to me|testing|test|i'm back|i am back|is anyone \
there|wake up)
(hey|ok|okay) (anovax|jarvis|computer|google|siri|alexa|cortana|olly)
(anovax|jarvis|computer|olly|alexa|siri)
(start|begin) listening [to me]

= All right.
(yes|yeah|yep|yup|no|nope|nah|maybe|perhaps|sure|ok|okay|alright|right|correct|true|false|fine|absolutely|\
definitely|certainly) [please|thanks|thank you|it is|it isn't|i do|i am|i did|that's right|that is right|that's \
correct|that is correct|that's true|that's not right]
(yes|no|yeah|okay|ok) (sir|ma'am|madam|man|boss|buddy|dude)
(wrong|that is false|that's false|i can't say|i cannot say|can't say|could go either way|not exactly)
(of course|exactly|indeed|possibly|not really|not sure|affirmative|negative|probably|probably not|no way|uh huh|\
who knows) [not]
(sure thing|you got it|no problem|no worries|that's incorrect|that is incorrect|that's not correct|that is not \
correct|that's not \
true|that is not true|that isn't right|that's not it|yes that's it|that works)
i (guess|think|suppose|don't think|do not think|believe) so
(i don't know|i do not know|i'm not sure|i am not sure|i'm unsure|it depends|could be|might be|hard to say|i see|\
got it|understood|either|both)
(i agree|i disagree|sounds good|works for me|very well|i understand|let me think ~|we'll see|not at all|without a \
doubt|you bet)
(that's|that is|that would be|that may be|that might be|that could be|it is|it's|it might be|it could be|it may \
be) [not] [a] (right|correct|true|false|yes|no|fine|affirmative|so|possible)
(you're|you are) (right|correct)
"""


def smalltalk_rules() -> tuple[Rule, ...]:
    """One fixed answer for each kind."""
    return tuple(rule for answer, templates in phrasebook(_TALK) for rule in rules(said(answer), *templates))
