"""The kinds of request that no tool here can do, as ``beyond`` reads them."""

from __future__ import annotations

# An answer; its deeds, things and whether it is "owned"; and the templates that fit neither.
KINDS = r"""
= I cannot set alarms or timers. I can tell you the time, and remember things for you.
deeds: set create make add put start begin give schedule cancel delete remove stop turn disable enable snooze \
change edit reset pause clear switch dismiss activate deactivate setup shut resume extend silence need close
things: alarm|alarms|timer|timers|stopwatch|stop watch|countdown|alarm clock
owned: yes
wake me [up] <x>
wake me
(alarm|timer|snooze|countdown|alarms) [for|at|in] <x>
<n> (second|minute|hour|min|seconds|minutes) timer [<x>]
snooze
(what|which|list|show|show me) [all] [the|active|current|of] [the] (alarms|timers) [<x>]
(confirm|check|verify|see|make sure) [if|that|whether] [there is|i have|i've] (an|my|the) [<y>] alarm [<x>]
(alert|notify|ping) me (in|after|at|when|about|of|if) <x>
[what|what's|what is|how much|how long] [time] [is] [left|remaining] on the (timer|countdown)
(what|which) (alarms|timers) are (set|on|active|there)
is (the|there an|an) alarm (set|on|active) <x>
is (the|there an|an) alarm (set|on|active)

= I cannot make calls or send messages. I can open a program or a site that does.
deeds: send compose leave shoot draft forward check read show play get answer make place pick decline reject end \
delete listen
things: text|texts|text message|text messages|message|messages|sms|voicemail|voicemails|voice mail|phone call|\
call|calls|missed calls|video call|dm|fax
(call|dial|telephone|facetime|video call|skype) [up] <who>
(phone|ring|text|message|sms|whatsapp|buzz) [up] (my|mom|mum|dad|home|him|her|them|back|grandma|grandpa|everyone) \
[<who>]
(text|message|whatsapp|sms) <who> (that|and|to|saying|asking|about|i|i'm|i'll|if|back|when|a) <x>
(tell|inform|ask|let) [my] (mom|mum|dad|mother|father|wife|husband|brother|sister|boss|friend|son|daughter|\
boyfriend|girlfriend|family|grandma|grandpa|roommate) <x>
hang up [the] [phone|call]
who (called|texted|messaged|rang) [me] [<x>]
redial [the] [last] [number]
i (want|need) to (call|text|phone|message) <who>
(text|call|phone) someone
(do i have|have i got|did i get|are there) [any] [new|unread|missed] (messages|texts|text messages|calls|\
voicemails) [<x>]

= I cannot read or send mail. I can open your mail program: say, open mail.
deeds: send write compose draft reply respond forward answer create shoot make email e-mail delete archive mark \
clear refresh summarize unsubscribe
things: email|emails|e-mail|e-mails|mail|mails|inbox
owned: yes
(email|e-mail) <who> (that|and|to|about|saying|a|the|my|regarding|asking|back) <x>
(email|e-mail) (my|mom|mum|dad|him|her|them|everyone|back|the) <x>
(reply|respond) to <x>
(check|read|show|list|get|tell|display|refresh|search|find|any|are there|is there|what|fetch|give|pull up) [me] \
[about] [all] [of] [any|the|my|if|through|for|out] [there] [are|is] [most|any] (new|unread|recent|latest|last|my|\
received|the) (email|emails|e-mail|e-mails|mail|mails|inbox) [<x>]
(check|read|show|list|refresh|search) (email|emails|e-mail|e-mails|mail|mails|inbox) [<x>]
(new|unread) (email|emails|mail) [<x>]
(what|when|who|did|has|is|was|any) <who> (email|emails|e-mails|emailed) (me|from|about|to|since|in) [<x>]
(check|see|tell me|find out|know) (if|whether) [i] <who> (emailed|e-mailed|email|sent me an email|mailed) [<x>]
who (emailed|e-mailed|mailed) me [<x>]
(did|has) <who> (email|emailed|e-mailed|write) me [<x>]
(any|are there any|is there any|are there) (emails|email|mail) [<x>]
(has|have) there been [any] [new] (mail|email|emails|messages) [<x>]

= I have no address book. I can remember a number or an address that you tell me.
(add|save|store|put|create) <x> (to|in|as) [a|my] [new] (contacts|contact|address book|contact list|phone book)
(create|make|add) [a] [new] contact [<x>]

= I have no camera and record no sound. I can take a screenshot.
alone: yes
(take|snap|shoot|click) [a|me|my|another|some] (picture|photo|selfie|pictures|photos|video) [<x>]
(start|begin|stop|make) [a] [audio|video|voice|sound] recording [<x>]
record [a|my] (audio|video|sound|voice|message|memo|conversation) [<x>]

= I have no access to what stands in your calendar. I can open the calendar, and remember things for you.
deeds: add create schedule set put make cancel delete remove reschedule move plan clear mark erase insert enter \
change update invite postpone arrange include organize organise block
things: meeting|meetings|appointment|appointments|event|events|calendar|schedule|agenda|conference
owned: yes
am i (free|busy|available|booked|working|off) [<x>]
(what|anything) do i have [planned|scheduled|going on|on|coming up|happening] (today|tomorrow|tonight|on|for|this|\
next|in) [<x>]
(schedule|reschedule|postpone) (a|an|the|my|me|lunch|dinner|us|time|it) <x>
(what's|what is|whats) (on|in) the (calendar|schedule|agenda) [<x>]
(is|are) there [any|a|an] (meeting|meetings|appointment|appointments) [<x>]
what (meetings|appointments) [<x>]
(when is|when's|what is|what's) [the|my|our] (next|upcoming) (event|meeting|appointment) [<x>]
what (event|events) do i have [<x>]
(what's|what is) my day [looking] [look] [like] [today|tomorrow]
what (does|is) my day look like [<x>]
(what|what's) [is] (scheduled|planned) (for|on|today|tomorrow) [<x>]
do i have [any] plans [<x>]
do i have anything [planned|scheduled|going on|on|coming up] [<x>]

= I cannot order, buy or book anything, or see your orders. I can open a site or search for it.
deeds: make change cancel confirm check get need hold modify restart stop renew pause resume suspend track call \
send request hail summon schedule find arrange grab fetch
things: reservation|reservations|booking|bookings|subscription|newspaper delivery|delivery|my order|food order|\
taxi|cab|uber|lyft|a ride|my flight|my package|my membership|my trip|car service
(order|reorder|buy|purchase|reserve|rent|hire|preorder) <x>
book (me|a|an|the|my|us|two|three|four|2|3|4|tickets|flights|hotels|it|this|that|for|one) <x>
i (need|want|would like|'d like) [to book|to reserve|to get|to order|to buy|to rent|to make] (a|an|two|some|my|\
the) [<y>] (reservation|taxi|cab|uber|lyft|flight|hotel|plane ticket|rental car|pizza|takeaway|room|table) [<x>]
(get|grab|fetch|bring|order|find) (me|us) [a|some|an|the|two|another] [large|hot|cold|cup of|glass of|bottle of] \
(pizza|burger|food|takeaway|takeout|dinner|lunch|breakfast|coffee|beer|sandwich|tea|drink|water|sushi|snack) [<x>]
(where is|where's|when will|has|when does|track|what's the status of|what is the status of|check the status of|is|\
did|check on|when is) my [<y>] (package|packages|parcel|order|orders|delivery|deliveries|shipment|takeaway|\
takeout|pizza|food|luggage|flight|reservation) [<x>]
(add|put) <x> (to|in) [my|the] [amazon|shopping] (cart|basket)
(i|we) (need|want) (a|an) (uber|lyft|taxi|cab|ride) [<x>]
sign me up for <x>
(cancel|end|renew) my [<y>] (membership|subscription|account) [<x>]
i lost my luggage
(what|which) [<y>] (gate|seat|terminal) [<z>] my flight [<x>]

= I do not control devices or do chores in the house. I work this computer: programs, windows, typing and the web.
deeds: turn switch put dim brighten lower raise increase decrease set change make shut open close lock unlock \
start stop power activate deactivate adjust reduce bring unplug preheat fade program shut run
things: light|lights|lighting|lamp|lamps|light bulb|bulbs|thermostat|heating|heater|air conditioning|air conditioner|\
ac|a \
c|the fan|fans|tv|television|oven|stove|coffee machine|coffee maker|coffee pot|kettle|vacuum|vacuum cleaner|\
roomba|robot vacuum|smart plug|plug socket|wemo|wemo plug|outlet|blinds|curtains|dishwasher|washing machine|dryer|the \
socket|socket|\
sprinklers|sprinkler|microwave|fireplace|security system|front door|back door|garage|garage door|door|doors|gate|\
porch light|furnace|smart socket|humidifier|hue|temperature|the heat
(lights|light|lamp|tv|heating|fan) (on|off|out|up|down) [<x>]
all [of] [the|my] (lights|lamps) <x>
(i want|i need|i'd like|i would like) [all] [the|my] [<y>] (lights|light|lamp|lamps) [to be] [<x>]
(charge|start|warm up|park|drive|refuel|unlock|lock|wash) my (car|phone|truck|bike|tablet) [<x>]
(turn|put|set|switch) [off|on] my (phone|cell phone|tablet) [<x>]
(flush|unclog) the toilet
(take|measure|check) my (blood pressure|pulse|heart rate|body temperature)
(is|are|did i leave|have i left) (the|my|any) [<y>] (light|lights|oven|stove|door|doors|heating|tv|garage|garage door|\
heater|iron) (on|off|open|closed|locked|unlocked|running|shut) [<x>]
(make|brew|prepare|pour|start|fix) [me|us] [a|some|the|my|fresh|morning] [cup of|pot of] (coffee|tea|espresso|\
cappuccino|latte|cocoa) [now|please|<x>]
(vacuum|hoover|mop|sweep|mow) [up] [out] <x>
vacuum
(start|begin|do|finish) [the] (cleaning|vacuuming|hoovering|mopping|sweeping|laundry|dishes|ironing) [<x>]
i (want|need|'d like|would like|would love|could use) [to have] [a|some] [cup of|pot of|fresh|hot] (coffee|tea|\
espresso|latte|cappuccino)
i'd (like|love) [to have] [a|some] [cup of|pot of|fresh|hot] (coffee|tea|espresso|latte|cappuccino)
(clean|wash|dust|tidy|scrub|water|rake|paint|tidy up|clean up|wash up) [up] [out] (the|my|our|all the) [<y>] \
(room|bedroom|living room|kitchen|bathroom|house|floor|floors|carpet|carpets|rug|car|yard|garden|dishes|clothes|\
laundry|plants|flowers|windows|bed|sheets|pool|dog|flat|apartment|toilet|hall|hallway|garage) [<x>]
(do|fold|take out|walk|feed|iron|cook|bake|fry|grill|boil|wash|dry|fix|repair|drive|pick up|drop off) (me|us|the|\
my|our|some|a) [<y>] (dishes|laundry|trash|garbage|dog|dogs|cat|cats|fish|baby|kids|shirts|dinner|lunch|breakfast|\
eggs|steak|cake|pancakes|car|home|groceries|sink|roof|chores|clothes|ironing|cleaning|meal|bike|lawn) [<x>]
it is too (dark|bright|hot|cold|warm) [in here|here|in this room]
it's too (dark|bright|hot|cold|warm) [in here|here|in this room]

= I know nothing of your car. I can look something up on the web.
(what's|what is|check|tell me|how is|how's|is|do i know) my [<y>] (tire pressure|tyre pressure|oil level|mpg|gas \
mileage|\
gas level|fuel level|odometer) [<x>]
(how much|how many gallons of|how many miles of) (gas|fuel|petrol|oil) (do i have|have i got|is) [<x>]
how much (gas|fuel|petrol) is (left|in) [<x>]
(what|which) (kind|type|grade|sort) of (gas|fuel|oil|petrol|tires|tyres) (does|should|do) (my|i) <x>
(when|what day) (do|should|did|was|is|will) (i|my) [<y>] (oil change|tire change|tires changed|oil changed|car \
serviced|\
last serviced|inspection|tune up) [<x>]

= I have no access to accounts, bills, cards or your employer's records. I can open the site for you.
deeds: pay transfer wire withdraw deposit redeem report freeze unfreeze request apply dispute unblock
things: balance|balances|bill|bills|credit score|credit limit|credit card|credit cards|credit rating|debit card|\
my visa|my mastercard|american express|card|cards|bank account|checking account|checking|savings account|savings|\
account|accounts|transaction|transactions|paycheck|paychecks|payday|pto|vacation days|vacation request|days off|\
day off|time off|pin|pin number|routing number|insurance|401k|w2|w 2|w-2|taxes|tax return|rewards|reward points|\
points|mortgage|loan|rent|spending|purchases|direct deposit|minimum payment|payment|payments|apr|interest rate|\
salary|income|wages|health plan|benefits|money|dollars|bucks|euros|fraud|debt|deposit|checks|transfer|charges|\
transferred
owned: yes
when do i get paid [<x>]
(am i|are we) getting paid [<x>]
(put|place) a (hold|freeze|block|stop) on (my|the) <x>
request [a] (vacation|leave|holiday|day off|days off|time off|pto) [<x>]
(when is|when's|what day is|is) [the|our] [next] (payday|pay day) [<x>]
(change|reset|update|set|set up|setup|raise|increase|lower|cancel|activate|replace|renew) my [<y>] (pin|pin number|\
direct deposit|credit limit|card|credit card|debit card|insurance|payment|bank account|password for my bank) [<x>]
(set up|setup|start|get) [a] direct deposit [<x>]
(put in|submit|file|enter) [a|an|my] [<y>] (pto|vacation|leave|time off|day off) [request|requests] [<x>]
(tell|notify|inform|let) my (bank|credit card company|card company|insurance|insurance company) <x>
how much (do|did|have|will) i (owe|spend|spent|earn|make|pay|paid) [<x>]
(what|how much) did i (spend|spent) [<x>]
(pay|transfer|send|move|wire|withdraw|deposit) [<y>] (\$|money|dollars|bucks|funds|bill|bills) [<x>]

= I cannot post to social networks. I can open the site for you.
(tweet|retweet) <x>
(send|post|write|publish|compose) [a|an|my|this|the] tweet [<x>]
(post|share|publish|write) (on|to) [my] (twitter|facebook|instagram|snapchat|linkedin|social media) <x>
(complain|tweet) (to|at|about) <x> on (twitter|facebook)
(post|share|publish|upload) <x> (on|to|at|in|with) [my|the] (twitter|facebook|instagram|social media|snapchat|\
linkedin|wall|timeline|tumblr|reddit|pinterest|friends|followers|feed|story)
(update|change|set) my [facebook|twitter] (status|profile picture) [<x>]
(post|share) [a|my|this|the] [new] (status|tweet|photo|picture|selfie|complaint) [<x>]
(send|write|make|file) [a] complaint [<x>]

= I cannot see where you or your things are. I can open a map.
where am i [right now|now|currently|at|located|exactly]
(what's|what is|whats|tell me|show me|show|give me|find|find out|get|do you know|pinpoint|pin point|see|locate) \
my [current|exact|present|gps] (location|position|coordinates) [right now|now|is]
locate me
where are we [right now|now|at]
what (city|town|state|street|country|county|place|part of town|area) am i [currently] in [right now|now]
(tell me|do you know|find out|show me|can you see) where i am [right now|now|located|currently|at]
(share|send|give|tell) [<y>] my [current] location [<x>]
(find|locate|look for|where are|where is|where's|help me find|ring|where did i put|where did i leave|track down|i \
lost|i can't find|\
i cannot find|i misplaced|do you know where|have you seen|i need help finding|i need to find) my [<y>] (phone|\
cellphone|cell phone|iphone|android|keys|wallet|purse|glasses|mobile|tablet|remote) [<x>]

= I do not shut down, restart or log off the computer. Please use the system menu.
(shut down|shutdown|power off|power down|turn off|switch off|restart|reboot|hibernate|suspend|log off|sleep) [the|\
my|this] (computer|pc|laptop|system|machine|workstation) [now]
(shut down|shutdown|reboot|restart|hibernate|power off|power down|log off|logoff)
put [the|my|this] (computer|pc|laptop|system|machine) (to sleep|in sleep mode|into sleep mode)

= I do not create, rename, move or delete files. I can open the file manager.
(rename|move|delete|erase|duplicate|zip|unzip|compress|extract) [the|this|that|these|those|all|my|all the] [<y>] \
(file|files|folder|folders|directory|directories) [<x>]
(create|make) (a|another|the) [new] [<y>] (folder|directory|subfolder) [<x>]

= I cannot connect or change the network, displays or devices by voice. I can open the settings.
(turn|switch) (on|off) [the|my] (wifi|wi-fi|wi fi|bluetooth|airplane mode|aeroplane mode|hotspot|vpn|mobile data|\
night light|dark mode|night mode|battery saver|do not disturb)
(turn|switch) [the|my] (wifi|wi-fi|wi fi|bluetooth|airplane mode|aeroplane mode|hotspot|vpn|night light|dark mode|\
battery saver) (on|off)
(enable|disable|activate|deactivate|toggle) [the|my] (wifi|wi-fi|wi fi|bluetooth|airplane mode|hotspot|vpn|night light|\
dark mode|battery saver|do not disturb)
(connect|reconnect) [me] to [the|my|a] (wifi|wi-fi|wi fi|internet|bluetooth|vpn|network|printer) [<x>]
(eject|unmount) [the|my|this] <x>

= I cannot hear what is playing, and I keep no playlists. I can press the media keys.
(what|what's|whats|which|who|who's|what is|who is|tell me|do you know|name|identify) [<y>] (song|track|tune|music|\
artist|singer|band) [<z>] (this|playing|on|now) [<x>]
(what|what's|who's|what is|who is) [currently|this] [song] playing [right now|now|at the moment]
who (sings|sang|is singing|plays) this [song|track|music] [<x>]
who (made|wrote) this (song|track|music|tune) [<x>]
(name|identify) (this|that) (song|tune|track)
(what's|what is) (this|that|the name of this|the title of this|the name of that) (song|track|tune|music) [<x>]
(add|save|put|remove|delete|include|move) <x> (to|from|in|on|onto|into) [my|the|a] [<y>] (playlist|play list|\
playlists|queue|favorites|favourites)
(create|make|start|build|delete|update|rename) [me] [a|an|my|the] [new] [<y>] (playlist|play list) [<x>]
(i (like|love|hate|dislike)|rate|like|dislike) (this|that) (song|track|tune|music|band) [<x>]
save (this|that) song [<x>]
(save|remember|store) (my|that) [<y>] (opinion|preference|taste) [<x>]

= I cannot change that about myself by voice. My voice, language and speed are in the settings file.
(speak|talk|respond|reply|answer) [to me] [in] (spanish|french|german|italian|chinese|japanese|portuguese|russian|\
arabic|hindi|korean|mandarin|dutch|english|another language|a different language) [<x>]
(change|switch|set|use|make|turn) [to] [your|the|my] [<y>] (accent|voice|language|languages|speaking speed|\
talking speed|speech speed|speaking rate) [settings] [<x>]
(change|switch|set) [your|the] [default] language [<x>]
(speak|talk|go|say it|say that) [a little|a bit|much|more|to me] (faster|slower|slowly|quickly|in a whisper|\
clearly) [<x>]
(whisper|turn on whisper mode|turn off whisper mode|start whispering|stop whispering|whisper mode) [<x>]
(enter|use|enable|disable|go into|activate|switch to|turn on|turn off|start|put) [on] [your] (whisper|whispering) \
[mode] [<x>]
(slow|speed) (down|up) [your] [speech|talking|speaking|voice|how fast you talk] [<x>]
(change|set) your (name|speed|speech|gender) [<x>]
(your name is|your new name is|i will call you|i'll call you|i want to call you|i'm going to call you|let me call \
you|can i call you|i would like to call you|i'd like to call you|from now on your name is|rename yourself|call \
yourself|you are now called|you're called) <x>
(reset|restore|return|revert|change|put|do) [a] [yourself] [back] [to] [all] [of] [your|the|my] (factory settings|\
factory defaults|original settings|default settings|settings|factory reset|defaults) [<x>]
go [back] to [the|your] [default|original|factory] (factory settings|factory defaults|factory reset|original settings|\
default settings)
(sync|connect|pair|link|unsync|disconnect|unpair|unlink) [<y>] [my|a|the|this] [new] (phone|iphone|android|tablet|\
device|devices|bluetooth|watch|headphones) [<x>]
"""
