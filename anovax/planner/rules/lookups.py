"""Questions that are looked up on the web: weather, news, scores, prices, places, recipes, meanings, plain facts."""

from __future__ import annotations

import re

from anovax.planner.rules.notation import Build, Reading, Rule, Scene, call, phrasebook, rules

# Who asks about "my", "you" or "this" asks about something that the web does not know.
_PERSONAL = re.compile(
    r"\b(?:my|mine|you|your|yours|yourself|me|i|i'm|we|our|(?<!the )us(?! (?:dollars?|president|states?|population|"
    r"open|army|"
    r"navy|history|economy|election))|this|that|these|those|he|she|they|him|her|his|their|"
    r"them|it's)\b",
    re.IGNORECASE,
)
# What belongs to the asker's life or to this computer rather than to the web.
_OURS = re.compile(
    r"\b(?:meetings?|appointments?|calendar|party|homework|exam|interview|deadline|dinner|lunch|breakfast|e-?mails?|"
    r"inbox|screen|windows?|tabs?|"
    r"desktop|alarms?|timers?|reminders?|files?|folders?|downloads?|clipboard|mouse|cursor|volume|battery|bookmarks?|"
    r"(?:next|upcoming|coming|scheduled) events?|events (?:are|is) (?:coming|up)|payday|pay day|rent|remote|keys|"
    r"wallet|"
    r"who(?:'s| is) (?:calling|coming|at the door|outside|there|here|the best$)|do you mean|^(?:look|feel|sound)$|"
    r"does it cost$|"
    r"package|"
    r"parcel|midnight|noon|trash day|garbage day)\b",
    re.IGNORECASE,
)
_THIS = re.compile(r"\b(?:this|that|these|it|page|selection|translate (?:to|into) \w+$)\b", re.IGNORECASE)
# In these kinds the asker may be named: "how do i make …", "do i need …".
# What only who asks can know, or what was talked about before.
_NOT_ASKED = re.compile(
    r"^(?:what do you mean|how (?:do|did) i (?:look|feel|sound|do|get home)|how much (?:does|did) it cost)\b(?! to\b)",
    re.IGNORECASE,
)
_ASKED_BY = frozenset(("places", "weather", "cooking", "travel", "prices", "sports", "news", "meaning", "translation"))
_ASKER = re.compile(r"^(?:\w+ ){0,3}(?:me|i|you|us|we|it)\b", re.IGNORECASE)
_THIS_TIME = re.compile(
    r"\bthis (?:coming )?(?:weekend|week|morning|afternoon|evening|month|year|season|summer|winter|spring|fall|"
    r"\w+day)\b",
    re.IGNORECASE,
)
_HERE = re.compile(
    r"\b(?:near|around|close to|by|from) (?:me|us|my (?:house|home|place|location|area|office|apartment|hotel)|"
    r"where i am|here)\b|"
    r"\bin my (?:area|city|town|neighbou?rhood)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:what's|whats|what is|what are|what're|how(?:'s| is) (?=the (?:weather|traffic|forecast|stock))|"
    r"tell me(?: about)?|show me|give me|read me|i want to know|"
    r"i need to know|"
    r"do you know|find me|find out|find|get me|check|"
    r"(?:are|is) there (?:any |a )?|please|look for|let me know)\s+(?=\S)(?:the |some |any |a |an )?",
    re.IGNORECASE,
)

# What is named alone begins with no verb: "banana bread recipe", but not "print the recipe".
_NO_NAME = re.compile(
    r"^(?:open|close|go|get|send|save|print|share|copy|paste|delete|remove|add|put|turn|set|make|play|start|stop|"
    r"call|text|"
    r"email|write|type|click|press|scroll|drive|take|order|book|buy|switch|read|reserve|remember|remind|follow|"
    r"bookmark|"
    r"download|upload|use|let|tell|who|what|where|when|how|why|is|are|do|does|did|can|could|will|would|i|we|you|my|it|"
    r"there|not|no)\b",
    re.IGNORECASE,
)

_LOOKUPS = r"""
= weather
[(what|what's|whats|how|how's|tell|give|show|check|is|get|find|when|current|today's|tomorrow's|weekly|local|\
hourly|the|any|do|does|read|which|will|are|this|next|i) ~] (weather|forecast|temperature|humidity|wind speed|\
rainfall|air quality|pollen|uv index) ~ [<rest>]
(is|will) it (going to|gonna|be|rain|snow|raining|snowing|get|still|likely to) [<rest>]
(is|will) (it|there) [be] ~ (rain|raining|snow|snowing|sunny|cloudy|windy|hot|cold|warm|storm|stormy|freezing|\
humid|foggy|nice|clear|wet|chilly|fog) ~ [<rest>]
how (hot|cold|warm|humid|windy|cool|chilly) (is|will|does) (it|the) [<rest>]
(do|will|should) i (need|bring|take|carry|wear) (a|an|my) (umbrella|coat|jacket|raincoat|sweater|rain jacket|\
scarf) [<rest>]
(what|how) (degrees|many degrees) ~ [outside|in|today] [<rest>]
does it (look like|rain|snow) [<rest>]
= news
(what's|what is|what are|tell me|give me|show me|get me|any|i want|check|update me on|read me) ~ (news|headlines) \
[<rest>]
[what are] [the|today's] (latest|breaking|top|today's|recent|current|world|local|international|sports|political|\
business|tech|\
technology) (news|headlines|stories) [<rest>]
(news|headlines) [<rest>]
[tell me|know] (what's|what is) (happening|going on|new|trending) (in|with|on) [<rest>]
(tell me|give me|know|what is|what's|find out|show me) the latest (about|on|in|with|from) <rest>
know [the] [latest] news [(about|on|in|from) <rest>]
(find|give me|get me|show me|find me|check) [the] (train|bus|flight|plane|ferry) (tickets|ticket|times|schedule|\
schedules|timetable|timetables) <rest>
(find|find me|find us|look for|locate|search out) (a|an|some|any|good|nice|cheap|local|all|places|restaurants|\
hotels|flights|events|movies|recipes|tickets|information|info) <rest>
(find|find me|look for) the (best|cheapest|nearest|top|closest|latest|fastest|most ~) <rest>
(find out|look into) (who|what|when|where|how|if|whether|why|about) <rest>
any ~ (events|concerts|festivals|shows|movies) [<rest>]
(are|is) there [any] ~ (events|concerts|festivals|shows|storms|coupons|deals|sales|movies|films|restaurants|bars|\
hotels) [<rest>]
(do|does) <thing> (take|takes|accept|allow|do|have) (reservations|a reservation|bookings) [<rest>]
how busy (is|are|does) <rest>
where can (i|one|you|we|people) (find|buy|get|see|watch|eat|rent|go) <rest>
how do you (tie|fix|change|clean|remove|get|use|play|draw|build|grow|solve|calculate|measure|repair|stop|make|start) \
<rest>
what (should|can|could|to) [i|we|you|one] (do|see|visit) in <rest>
(what|which) [are] ~ things to (do|see) [in|at|around|near] <rest>
what is there to (do|see) in <rest>
tell me about <rest>
how (do|can|would|should|could) (i|one|someone|people) <rest>
(show|teach|tell) me how to <rest>
what (do you know|can you tell me) about <rest>
(show|find|get) me (cheap|good|the best|the cheapest|the nearest|nearby|some good|some cheap) <rest>
how to <rest>
(what's|what is|what are|tell me|show me|find|get|give me|how are|read me) [the] [some] (reviews|review|ratings|\
travel alert|travel alerts|travel warnings|opening hours|hours|showtimes) (for|of|on|about|to|at) <rest>
= sports
who (won|is winning|will win|is playing|played|beat|scored|lost) <rest>
(what's|what is|what was|tell me|give me|find|get|show me|check) ~ (score|scores|standings) [of|for|in|from] \
[<rest>]
(did|do|are|will) the <team> (win|lose|play|playing|score|beat) [<rest>]
(when|what time) (is|are|do|does) the ~ (game|match|race|super bowl|world cup|olympics|playoffs|election|concert|\
debate) [<rest>]
= prices
(what's|what is|how is|how's|tell me|show me|give me|check|find|get) ~ (stock|stocks|share|shares|stock market|\
market|price|prices|exchange rate|conversion rate|rate|cost|value) (of|for|in|at|to|doing|between|on|from) \
[<rest>]
(what's|what is|how is|how's|tell me) [the] <thing> (stock price|share price|stock|stocks|trading at|exchange \
rate) [<rest>]
how (much|expensive) (is|are|does|do|did|would|will) <rest>
[the] (exchange|conversion) rate [<rest>]
convert <rest>
how (many|much) (dollars|euros|pounds|yen|rupees|pesos|bitcoins|bitcoin|yuan|francs|canadian dollars|us dollars) \
<rest>
what (is|does|would) <thing> (worth|cost) [<rest>]
= places
(find|find me|show|show me|search|where is|where's|where are|locate|get|get me|look for|i need|i want|list|give \
me|tell me|recommend|suggest|what's|what is|what are|which|what|is there|are there|any|where can i|help me find) \
<thing> (near|nearby|near by|close by|closest|around here|near here|nearest|in the area|in my area|in this area|\
within|in town|around me|close to me|near me) [<rest>]
(where's|where is|where are|what's|what is|find|find me|show me|how far is|how far away is) [the] (nearest|\
closest) <rest>
(nearest|closest) <rest>
<bare> (near me|nearby|near here|around here|close by)
(recommend|suggest) [me|us] [a|an|some|any|the] <rest>
(what|which) [are] [the] [some|a] [best|good|top|popular] (movies|films|shows|movie|events|concerts|restaurants|\
theaters|plays|attractions|sights|museums|things to do) <rest>
[i need|i want|i'd like] [some|the] (directions|route|driving directions|the way) (to|from) <rest>
(get|give|show|find|tell) me [the] [driving] (directions|route|way|fastest way|quickest way|best route|fastest \
route) (to|from) <rest>
how (far|long) (is|does|will|would|is it|away is|of a drive|to get) <rest>
(what's|what is|how's|how is|check|tell me|is there|is) [the] ~ traffic [<rest>]
how (bad|heavy) is [the] traffic [<rest>]
traffic [<rest>]
how (bad|heavy) is [the] traffic [<rest>]
(when|what time) (does|will|is|did) [the] (sun|moon|sunrise|sunset) [<rest>]
(when|what time) (does|do|will|is) [the] [next] ~ (open|close|opens|closes|leave|arrive|depart|leaving|arriving|\
departing|start) [<rest>]
= cooking
[find|find me|get|get me|give me|show|show me|i need|i want|look for|what's|what is|tell me|do you have|have you \
got|search] [a|an|the|some|any|me] [good|best|easy|quick|great|simple|healthy] (recipe|recipes) (for|of|with|to|\
using|that) <rest>
(find|get|give me|show me|i need|tell me|what's|find me) [a|the|me] <thing> (recipe|recipes)
<bare> (recipe|recipes)
how (do|can|would|should|to|does|did) [i|you|one|we|people|someone] (make|cook|bake|prepare|fry|grill|boil|roast|\
brew|steam|poach) <rest>
how (many|much) (calories|carbs|protein|sugar|fat|fiber|cholesterol|sodium|calories are|vitamins) <rest>
(what|which) (ingredients|ingredient) <rest>
(what is|what's|whats|is there) a [good|healthy|cheap] (substitute|replacement|alternative) (for|to) <rest>
what (can|could|should) (i|we) (make|cook|bake) (with|using|out of|from) <rest>
what (are|is) the (ingredients|nutritional info|nutrition|nutritional value|calorie content|health benefits) (of|\
for|in) <rest>
how long (do|does|should|can|to|will|must) [i|you|it|we] ~ (cook|bake|boil|roast|last|keep|good|stay|fry|take|\
grill|steam) [<rest>]
(what|can|could) (can|i|could|would) [i] (substitute|use|replace|swap) <rest>
(is|are) <thing> (healthy|good for you|bad for you|fattening|nutritious|gluten free|vegan)
= meaning
define [the] [word|term] <rest>
(what's|what is|give me|tell me|look up|find|i need|get|can i get|what would be) [the|a|another] [dictionary] \
(definition|meaning|synonym|synonyms|antonym) (of|for|to|behind) <rest>
(definition|meaning|synonym|synonyms) (of|for) <rest>
what (does|do|did) [the] [word|term|phrase|words|expression] <rest> (mean|stand for|refer to)
(tell me|explain|do you know) [to me] what [the] [word|term|phrase] <rest> means
what is meant by <rest>
= translation
translate <rest>
(how|what) (do|would|does|can|to|is) [you|i|one|they|we] (say|call|write|word) <thing> in (spanish|french|german|\
italian|chinese|japanese|portuguese|russian|arabic|hindi|korean|latin|mandarin|dutch|greek|turkish|swedish|polish|\
english) [<rest>]
(what's|what is) [the] [word for] <thing> in (spanish|french|german|italian|chinese|japanese|portuguese|russian|\
arabic|hindi|korean|latin|mandarin|dutch|greek|turkish|swedish|polish) [<rest>]
what is the <language> word for <rest>
= facts
who (is|was|are|were|has|had|sells|holds|won|ran|leads|coined|wins|invented|discovered|wrote|painted|directed|founded|\
created|built|designed|composed|sang|\
sings|plays|played|starred|stars|owns|runs|killed|said|made|married) <rest>
(who's|whos) <rest>
when (is|was|are|were|did|does|do|will|has|had) <rest>
(when's|where's) <rest>
where (is|was|are|were|did|does|do|can|could) <rest>
how (old|tall|big|large|high|deep|heavy|fast|wide|far|long|often|many|rich|small|hot|cold) <rest>
(what is|what was|what are|what were|what's|whats|which is|which was|which are) the (cost|price|cause|purpose of|\
capital|population|height|length|distance|size|area|currency|time zone|\
timezone|time difference|language|national ~|president|king|queen|prime minister|governor|mayor|longest|largest|\
biggest|tallest|highest|smallest|fastest|oldest|best|name|number|year|address|phone number|speed|weight|age|color|\
symbol|temperature|difference|history|plot|cast|ceo|boiling point|chemical formula|formula|net worth|birthday|\
anthem|flag|richest|deepest|most|average|nearest|closest|top|latest|newest|release date|lyrics|rules|side effects|\
symptoms|square ~) [<rest>]
what (year|language|languages|country|city|state|continent|planet|team|movie|film|book|song|band|actor|currency|\
timezone|time zone|animal|company|century) (is|was|are|were|did|does|do|won|has|have|in) <rest>
(which|in which|in what|on what) (country|city|year|state|continent|planet|team|movie|film|book|band|actor|\
company|ocean|river|day|month) <rest>
= travel
(do|will) i need [a|an|any|to get] [tourist|travel|special] (visa|visas|vaccine|vaccines|vaccinations|vaccination|\
shots|shot|passport|adapter|plug) <rest>
(are|is) there [any] (travel alerts|travel warnings|travel advisories|travel alert|travel advisory|a travel alert|\
a travel warning) <rest>
is it safe (to|in) <rest>
(what|which) (vaccines|vaccinations|shots|plug|outlet|plug type|power adapter|socket) <rest>
"""


def _look_up(kind: str) -> Build:
    def build(match: re.Match[str], scene: Scene) -> Reading | None:
        there = scene.before and match.group().lower().startswith("read ")  # what was opened just before is to be read
        if there or _NOT_ASKED.match(match.group()) or _NO_NAME.match(match.groupdict().get("bare") or ""):
            return None
        text = match.group().strip(" ,\"'")
        bare = _THIS_TIME.sub("", _HERE.sub("", text))
        bare = _ASKER.sub("", bare) if kind in _ASKED_BY else bare
        if _OURS.search(bare) or (kind == "translation" and _THIS.search(bare)):
            return None
        if kind != "translation" and _PERSONAL.search(_LEAD.sub("", bare)):
            return None
        query = _LEAD.sub("", text).strip() or text
        return Reading(call("web_search", query=query).calls, free=True) if len(query) <= 200 else None

    return build


def lookup_rules() -> tuple[Rule, ...]:
    """One build for each kind of question."""
    return tuple(rule for kind, templates in phrasebook(_LOOKUPS) for rule in rules(_look_up(kind), *templates))
