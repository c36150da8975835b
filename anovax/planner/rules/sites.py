"""Well-known sites: what people call them, their hosts, and where a site's own search lives."""

from __future__ import annotations

from urllib.parse import quote_plus

# host: spoken names (without "the" and "website"). The first host wins where a name occurs twice.
_NAMES = """
google.com: google, google search, google homepage
youtube.com: youtube, you tube
music.youtube.com: youtube music
mail.google.com: gmail, google mail, g mail
maps.google.com: google maps, google map
drive.google.com: google drive
docs.google.com: google docs, google documents
sheets.google.com: google sheets
slides.google.com: google slides
keep.google.com: google keep
calendar.google.com: google calendar
photos.google.com: google photos
meet.google.com: google meet
translate.google.com: google translate
news.google.com: google news
scholar.google.com: google scholar
images.google.com: google images
classroom.google.com: google classroom
play.google.com: google play, google play store, play store
earth.google.com: google earth
trends.google.com: google trends
gemini.google.com: gemini
wikipedia.org: wikipedia, wiki pedia
wiktionary.org: wiktionary
wikihow.com: wikihow, wiki how
facebook.com: facebook, face book, fb
messenger.com: facebook messenger
twitter.com: twitter
x.com: x dot com
instagram.com: instagram, insta
linkedin.com: linkedin, linked in
reddit.com: reddit
pinterest.com: pinterest
tumblr.com: tumblr
tiktok.com: tiktok, tik tok
snapchat.com: snapchat
quora.com: quora
medium.com: medium
twitch.tv: twitch
vimeo.com: vimeo
dailymotion.com: dailymotion
flickr.com: flickr
imgur.com: imgur
giphy.com: giphy
deviantart.com: deviantart
myspace.com: myspace
web.whatsapp.com: whatsapp, whatsapp web, whats app
web.telegram.org: telegram, telegram web
discord.com: discord
slack.com: slack
zoom.us: zoom
teams.microsoft.com: microsoft teams, ms teams
netflix.com: netflix
hulu.com: hulu
disneyplus.com: disney plus, disney+
primevideo.com: prime video, amazon prime video, amazon prime
max.com: hbo max
hbo.com: hbo
peacocktv.com: peacock
paramountplus.com: paramount plus
crunchyroll.com: crunchyroll
imdb.com: imdb
rottentomatoes.com: rotten tomatoes
open.spotify.com: spotify, spotify web player
pandora.com: pandora, pandora radio
soundcloud.com: soundcloud, sound cloud
deezer.com: deezer
tidal.com: tidal
music.apple.com: apple music
last.fm: last fm
bandcamp.com: bandcamp
iheart.com: iheartradio, i heart radio
tunein.com: tunein, tune in radio
audible.com: audible
amazon.com: amazon
ebay.com: ebay, e bay
etsy.com: etsy
walmart.com: walmart
target.com: target
bestbuy.com: best buy
costco.com: costco
ikea.com: ikea
homedepot.com: home depot
lowes.com: lowes
wayfair.com: wayfair
aliexpress.com: aliexpress, ali express
alibaba.com: alibaba
craigslist.org: craigslist, craig's list
zillow.com: zillow
groupon.com: groupon
nike.com: nike
sephora.com: sephora
macys.com: macy's, macys
nytimes.com: new york times, ny times, nytimes
washingtonpost.com: washington post
wsj.com: wall street journal
cnn.com: cnn
bbc.com: bbc, bbc news
foxnews.com: fox news
nbcnews.com: nbc news, nbc
abcnews.go.com: abc news
cbsnews.com: cbs news
msnbc.com: msnbc
npr.org: npr
theguardian.com: guardian
usatoday.com: usa today
reuters.com: reuters
apnews.com: ap news, associated press
bloomberg.com: bloomberg
forbes.com: forbes
economist.com: economist
time.com: time magazine
latimes.com: la times, los angeles times
huffpost.com: huffington post, huffpost
buzzfeed.com: buzzfeed
nationalgeographic.com: national geographic
theverge.com: verge
techcrunch.com: techcrunch
wired.com: wired
theonion.com: onion
news.ycombinator.com: hacker news
slashdot.org: slashdot
espn.com: espn
nba.com: nba
nfl.com: nfl
mlb.com: mlb
fifa.com: fifa
weather.com: weather channel, weather.com
accuweather.com: accuweather
tripadvisor.com: tripadvisor, trip advisor
booking.com: booking.com, booking dot com
expedia.com: expedia
airbnb.com: airbnb, air bnb
kayak.com: kayak
hotels.com: hotels.com
yelp.com: yelp
opentable.com: opentable, open table
grubhub.com: grubhub
doordash.com: doordash, door dash
ubereats.com: uber eats
dominos.com: domino's, dominos
irctc.co.in: irctc
uber.com: uber
lyft.com: lyft
github.com: github, git hub
gitlab.com: gitlab
bitbucket.org: bitbucket
stackoverflow.com: stack overflow, stackoverflow
pypi.org: pypi
npmjs.com: npm
developer.mozilla.org: mdn, mdn web docs
mozilla.org: mozilla
microsoft.com: microsoft
apple.com: apple
icloud.com: icloud
office.com: office 365, microsoft 365
outlook.com: outlook.com, outlook web, hotmail
onedrive.live.com: onedrive, one drive
yahoo.com: yahoo
mail.yahoo.com: yahoo mail
bing.com: bing
duckduckgo.com: duckduckgo, duck duck go
aol.com: aol
protonmail.com: protonmail, proton mail
dropbox.com: dropbox
box.com: box dot com
evernote.com: evernote
notion.so: notion
trello.com: trello
asana.com: asana
figma.com: figma
canva.com: canva
grammarly.com: grammarly
wolframalpha.com: wolfram alpha
chatgpt.com: chatgpt, chat gpt
openai.com: openai, open ai
claude.ai: claude
huggingface.co: hugging face
arxiv.org: arxiv
archive.org: internet archive, wayback machine
khanacademy.org: khan academy
coursera.org: coursera
udemy.com: udemy
edx.org: edx
duolingo.com: duolingo
quizlet.com: quizlet
ted.com: ted, ted talks
goodreads.com: goodreads, good reads
gutenberg.org: project gutenberg
webmd.com: webmd, web md
mayoclinic.org: mayo clinic
nasa.gov: nasa
irs.gov: irs
usps.com: usps
fedex.com: fedex
ups.com: ups
paypal.com: paypal, pay pal
venmo.com: venmo
chase.com: chase bank
bankofamerica.com: bank of america
wellsfargo.com: wells fargo
coinbase.com: coinbase
finance.yahoo.com: yahoo finance
indeed.com: indeed
glassdoor.com: glassdoor
monster.com: monster.com
allrecipes.com: allrecipes, all recipes
foodnetwork.com: food network
steampowered.com: steam store
roblox.com: roblox
itch.io: itch
pbs.org: pbs
gq.com: gq
vogue.com: vogue
webex.com: webex
speedtest.net: speedtest, speed test
"""

# Where a site searches itself; {} is the query. Only sites whose address form has been stable for years.
_SEARCH = {
    "google.com": "google.com/search?q={}",
    "images.google.com": "google.com/search?tbm=isch&q={}",
    "maps.google.com": "google.com/maps/search/{}",
    "scholar.google.com": "scholar.google.com/scholar?q={}",
    "news.google.com": "news.google.com/search?q={}",
    "youtube.com": "youtube.com/results?search_query={}",
    "wikipedia.org": "en.wikipedia.org/w/index.php?search={}",
    "amazon.com": "amazon.com/s?k={}",
    "ebay.com": "ebay.com/sch/i.html?_nkw={}",
    "etsy.com": "etsy.com/search?q={}",
    "walmart.com": "walmart.com/search?q={}",
    "reddit.com": "reddit.com/search/?q={}",
    "twitter.com": "twitter.com/search?q={}",
    "github.com": "github.com/search?q={}",
    "stackoverflow.com": "stackoverflow.com/search?q={}",
    "netflix.com": "netflix.com/search?q={}",
    "twitch.tv": "twitch.tv/search?term={}",
    "imdb.com": "imdb.com/find/?q={}",
    "goodreads.com": "goodreads.com/search?q={}",
    "pinterest.com": "pinterest.com/search/pins/?q={}",
    "soundcloud.com": "soundcloud.com/search?q={}",
    "bing.com": "bing.com/search?q={}",
    "duckduckgo.com": "duckduckgo.com/?q={}",
    "archive.org": "archive.org/search?query={}",
}


class Sites:
    """Look-up of sites by spoken name."""

    def __init__(self) -> None:
        self._hosts: dict[str, str] = {}
        for line in _NAMES.strip().splitlines():
            host, _, names = line.partition(": ")
            for name in names.split(", "):
                self._hosts.setdefault(name, host)

    def host(self, name: str) -> str | None:
        """The host of a site by its name in any case, with or without "the"; None when unknown."""
        line = name.lower().strip().removeprefix("the ").removeprefix("my ")
        return self._hosts.get(line)

    @staticmethod
    def search(host: str, query: str) -> str | None:
        """The address that searches ``host`` for ``query``; None when the site's form is not known."""
        form = _SEARCH.get(host)
        return form.format(quote_plus(query)) if form else None
