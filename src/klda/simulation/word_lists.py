"""How the simulated world says things: phrases with slots, everyday words, and the parts of coined names.

A slot in braces is filled with a word of the post's thread: `{things}` and `{topics}` with plurals or mass nouns,
`{thing}` and `{topic}` with singulars, capitalised slots start a sentence, `{#thing}` makes a hashtag. `{name}`,
`{mention}`, `{number}`, `{emoji}` and `{link}` are coined. Phrases avoid verbs that would have to agree in number.
"""

from __future__ import annotations

from collections.abc import Mapping

OPENERS: Mapping[str, float] = {
    "": 80,
    "{mention} ": 7,
    "{mention} {mention} ": 1.5,
    "Update: ": 2,
    "Breaking: ": 1.5,
    "Hot take: ": 1.5,
    "Wow. ": 1.5,
    "Question: ": 1,
    "Good morning! ": 1.5,
    "Not again. ": 1,
    "Thread: ": 1,
    "Finally! ": 1,
}

SENTENCES = (
    "The {adj} {things} changed everything for the {topics}.",
    "So many questions about {things} today.",
    "{Name} says the {topics} will {verb} more {things}.",
    "Can we talk about the {thing} story in {name}?",
    "Another week, another {thing} headline.",
    "Who else is following the {adj} {thing} debate?",
    "We need to {verb} the {things} before it is too late.",
    "New report from {name}: {adj} {things} and what it means for {topics}.",
    "I never thought {things} would matter this much to {topics}.",
    "{Things} and {topics}: everything you need to know.",
    "They want to {verb} our {things}. Enough is enough.",
    "Still thinking about the {adj} {things} in {name}.",
    "{Number} reasons to care about {things}.",
    "My sister knows about {topics} and says the {things} got worse.",
    "Great conversation with {name} about {things} and the future of {topics}.",
    "If you {verb} the {things}, you help the {topics}. Simple.",
    "Nobody told me that {things} could be so {adj}.",
    "More {things}, fewer excuses.",
    "{Adj} {things} again in {name} this week.",
    "What do you think about the new {things}?",
    "The {topic} people in {name} waited {number} days for the {things}.",
    "Reading about {things} all night. The {topics} deserved better.",
    "Why does nobody {verb} the {adj} {things}?",
    "This is how we {verb} the {adj} {things}.",
    "Live from {name}: {topics}, {things} and a lot of patience.",
    "Proud of everyone who helped to {verb} the {things} in {name}.",
    "{Topics} without {things} would be so much better.",
    "It took {number} days to {verb} the {things}.",
    "The truth about {things} that {topics} will not tell you.",
    "Looking for {things} near {name}, any tips?",
    "{Name} just confirmed the {adj} {thing} story.",
    "Please share: {name} is short of {things} for the {topics}.",
    "You cannot {verb} {things} with good wishes.",
    "Everyone keeps asking me about {things}, so here we go.",
    "The {topic} people told me to stop worrying about {things}.",
    "That {adj} {thing} moment though.",
    "The {thing} numbers are out and the {topics} looked {adj}.",
    "How {name} learned to {verb} {things}.",
    "The {topic} team in {name} wants to {verb} the {things} for good.",
    "Every {topic} fan should know this {thing} trick.",
    "One {thing} problem can ruin your whole day. Ask the {topics}.",
    "The best {topic} expert in {name} has no time for {things}.",
    "There is always one more {thing} story in {name}.",
    "Never trust {adj} {things}.",
    "Big day for {topics}: the {things} finally arrived.",
    "Do not forget the {topics} when you talk about {things}.",
    "I would rather {verb} the {things} all day than do that again.",
    "{Things}? In this economy?",
)

SMALL_TALK = (
    "Good night everyone, see you tomorrow.",
    "I really need some {things} right now.",
    "Cannot sleep again.",
    "Does anyone else love {adj} {things} as much as I do?",
    "Just found the best {things} in {name}.",
    "Happy birthday {name}, have a wonderful day!",
    "I forgot my {things} at home again.",
    "Best {thing} ever, thank you {name}!",
    "Today was {adj} and I am not sorry.",
    "Who wants to {verb} some {things} with me?",
    "Trying to {verb} the {things} before {name} wakes up.",
    "Everyone told me to {verb} the {things}.",
    "It is only {number} days until the {topics}.",
    "Missing {name} and the {topics} a lot.",
    "{Adj} {things} made my week.",
)

SECOND_SENTENCES = (
    " We should {verb} them.",
    " First the {things}, now the {topics}.",
    " {Adj} {things} everywhere.",
    " No {things}, no {topics}.",
    " We cannot {verb} the {things} alone.",
    " Less {thing}, more {topic} please.",
    " Even the {topics} want to {verb} the {things}.",
    " All because of the {adj} {things}.",
    " {Topics} and {things}, what could go wrong.",
    " What a time to be alive.",
    " The {topics} deserved an answer.",
    " Ask the {topics}.",
    " More on {things} tomorrow.",
    " It is always the {things}.",
    " I am so tired of this.",
    " And yes, the {thing} part is true.",
    " {Name} was right.",
    " Someone tell {mention}.",
    " Even {mention} said so.",
    " Thoughts?",
    " Let that sink in.",
    " Full story below.",
    " The {adj} ones too.",
    " Same in {name}, by the way.",
)

CLOSERS: Mapping[str, float] = {"": 86, " {emoji}": 10, " {emoji}{emoji}": 3, " lol": 1}

TAGS: Mapping[str, float] = {
    "": 70,
    " {#thing}": 12,
    " {#topic}": 8,
    " {#thing} {#topic}": 7,
    " {#topic} {#thing} {#thing}": 3,
}

LINKS: Mapping[str, float] = {"": 78, " {link}": 22}

EMOJI = "😂, ❤️, 🙏, 🔥, 😭, 👏, 🎉, 😊, 🤔, 💪, 👀, 😍, 🙌, 😡, 💔, 🚨, ✨, 😅, 👍🏽, 🤷‍♀️"

EVERYDAY_THINGS = (
    "people, thing~s, year~s, day~s, question~s, idea~s, problem~s, plan~s, answer~s, chance~s, change~s, number~s, "
    "word~s, moment~s, rule~s, price~s, job~s, book~s, picture~s, worker~s, school~s, city~cities, street~s, money, "
    "room~s, letter~s, group~s, law~s, market~s, record~s, video~s, detail~s, expert~s, decision~s, result~s, test~s, "
    "report~s, lesson~s, mistake~s, leader~s, company~companies, country~countries, community~communities, student~s, "
    "teacher~s, worry~worries, rumour~s, promise~s, budget~s, cost~s, target~s, tool~s, case~s, period~s, contact~s, "
    "border~s, kit~s, suit~s, site~s, team~s, habit~s, dream~s, memory~memories, opinion~s, secret~s, source~s, "
    "study~studies, survey~s, surprise~s, trend~s, update~s, visit~s, voice~s, vote~s, voter~s, warning~s, winner~s"
)
EVERYDAY_ADJECTIVES = (
    "new, big, good, bad, old, small, real, strange, great, local, important, free, huge, amazing, awful, public, "
    "serious, expensive, simple, quiet, weird, beautiful, final, perfect, secret, recent, famous, difficult, "
    "ordinary, stupid"
)
EVERYDAY_VERBS = (
    "help, save, stop, change, fix, find, understand, ignore, improve, support, check, follow, explain, forget, "
    "remember, cut, pay for, keep, move, replace, fight, celebrate, defend, compare, question, trust, rethink, see, "
    "bring, use"
)

ONSETS = "b, br, c, ch, cr, d, dr, f, g, gr, h, j, k, l, m, n, p, pr, r, s, sh, st, t, tr, v, w, y, z"
VOWELS = "a, e, i, o, u, ai, ea"
ENDINGS = "n, r, s, l, ton, dale, ma, ro, ra, lli, sson, ven, field, ville, ski, no, by, rd, nt, way, to, la"
SITES = "https://, https://www., https://m."
ENDS_OF_SITES = ".example/, .example/p/, .example/v/"
