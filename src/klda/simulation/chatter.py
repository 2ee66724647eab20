"""What the simulated world talks about when it talks about nothing in particular."""

from __future__ import annotations

from klda.simulation.cast import SimulatedSubject, Thread

CHATTER = SimulatedSubject(
    name="chatter",
    keywords=(),
    topics="friend~s, weekend~s, coffee, family, birthday~s, morning~s, dinner~s, photo~s, holiday~s, party~parties, "
    "song~s, story~stories, neighbour~s, kid~s, phone~s",
    threads=(
        Thread(
            things="pizza, recipe~s, cake~s, curry~curries, noodle~s, brunch~brunches, leftovers, bakery~bakeries, "
            "avocado~s, sandwich~sandwiches, cheese, pancake~s, chocolate, salad~s, food truck~s, spice~s, "
            "soup~s",
            adjectives="spicy, delicious, crispy, homemade, hungry, vegan, sweet, burnt",
            verbs="cook, bake, eat, order, taste, share, reheat, season",
        ),
        Thread(
            things="album~s, playlist~s, concert~s, guitar~s, lyric~s, vinyl, band~s, drummer~s, encore~s, setlist~s, "
            "chorus~choruses, remix~remixes, tour date~s, singer~s, track~s, music video~s, festival~s",
            adjectives="acoustic, loud, catchy, live, nostalgic, underrated, new, emotional",
            verbs="play, hear, sing, stream, remix, love, download, review",
        ),
        Thread(
            things="goal~s, match~matches, referee~s, league~s, striker~s, penalty~penalties, coach~coaches, "
            "playoff~s, stadium~s, season~s, injury~injuries, transfer~s, derby~derbies, defender~s, "
            "quarterback~s, scoreboard~s, away fan~s",
            adjectives="offside, injured, winning, terrible, unbeaten, late, brilliant, biased",
            verbs="score, watch, win, lose, defend, sign, sack, boo",
        ),
        Thread(
            things="meeting~s, deadline~s, spreadsheet~s, boss~bosses, commute~s, inbox~inboxes, overtime, job "
            "interview~s, slide deck~s, coworker~s, pay rise~s, printer~s, lunch break~s, office~s, resume~s, "
            "burnout, sick day~s",
            adjectives="endless, tired, remote, corporate, urgent, late, awkward, underpaid",
            verbs="schedule, cancel, survive, answer, skip, print, quit, email",
        ),
        Thread(
            things="dog~s, kitten~s, puppy~puppies, cat~s, vet~s, walk~s, leash~leashes, hamster~s, squirrel~s, "
            "treat~s, rescue~s, litter box~litter boxes, parrot~s, horse~s, fur, nap~s, zoomies",
            adjectives="fluffy, sleepy, naughty, adopted, tiny, loyal, grumpy, happy",
            verbs="walk, pet, adopt, chase, feed, cuddle, bathe, spoil",
        ),
        Thread(
            things="episode~s, trailer~s, season finale~s, spoiler~s, plot twist~s, director~s, sequel~s, actor~s, "
            "documentary~documentaries, cinema~s, binge~s, cliffhanger~s, reboot~s, villain~s, soundtrack~s, "
            "character~s, popcorn",
            adjectives="scary, animated, romantic, boring, predictable, iconic, funny, overrated",
            verbs="watch, binge, rewatch, review, spoil, direct, cancel, stream",
        ),
        Thread(
            things="laptop~s, update~s, computer virus~computer viruses, password~s, wifi, app~s, charger~s, "
            "browser~s, keyboard~s, bug~s, hacker~s, firewall~s, backup~s, router~s, screen~s, malware, "
            "chatbot~s",
            adjectives="slow, broken, encrypted, open-source, smart, buggy, wireless, hacked",
            verbs="install, reboot, hack, patch, delete, download, charge, debug",
        ),
        Thread(
            things="rain, sunshine, snow, train~s, bus~buses, traffic, road works, sunset~s, umbrella~s, flight~s, "
            "airport~s, beach~beaches, hotel~s, road trip~s, mountain~s, museum~s, suitcase~s",
            adjectives="sunny, rainy, delayed, windy, gorgeous, foggy, scenic, freezing",
            verbs="visit, book, miss, catch, explore, photograph, pack, enjoy",
        ),
    ),
)
"""Background talk that is on nobody's subject, though it borrows words from some of them."""
