"""The subjects of the simulated world, and the threads that rise and fall within them.

Words are comma-separated entries. `nurse~s` is a word with its plural. `therapy~therapies` has an irregular plural, and
`insulin` has none. `doctor~s=physician~s` are synonyms, the most usual one first. The first entries are used most.
Plurals and mass nouns must read well with and without an article, because the phrases use both.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Thread:
    """A thread of a subject: its things, adjectives and verbs."""

    things: str
    adjectives: str
    verbs: str
    emerges: int | None = None
    """Weeks after the emergence at which people first speak of it. None if they always have."""


@dataclass(frozen=True)
class SimulatedSubject:
    """A subject that can be monitored: its name, the keywords a user would type first, and its words."""

    name: str
    keywords: tuple[str, ...]
    topics: str
    """Things of the whole subject, in all its threads."""
    threads: tuple[Thread, ...]


HEALTH = SimulatedSubject(
    name="health",
    keywords=("health", "hospital", "doctor", "medicine"),
    topics="health, hospital~s=clinic~s, doctor~s=physician~s=medic~s, patient~s, nurse~s, medicine~medicines=drug~s, "
    "treatment~s, symptom~s, diagnosis~diagnoses, emergency room~s, family doctor~s, medical staff, surgeon~s, "
    "ward~s",
    threads=(
        Thread(
            things="insurance=coverage, premium~s, medicaid, deductible~s, insurer~s, copay~s, claim~s, enrolment, "
            "benefit~s, subsidy~subsidies, network~s, medical bill~s, policyholder~s, reimbursement~s, waiting "
            "list~s, health plan~s",
            adjectives="affordable, uninsured, eligible, private, unpaid, annual, capped, denied",
            verbs="insure, reimburse, afford, expand, deny, negotiate, enrol, subsidise",
        ),
        Thread(
            things="insulin, prescription~s, generic~s, pharmacy~pharmacies=chemist~s, painkiller~s, opioid~s, "
            "dose~s, tablet~s=pill~s, refill~s, drug price~s, side effect~s, inhaler~s, clinical trial~s, "
            "pharmacist~s, antibiotic~s, drugmaker~s, placebo~s",
            adjectives="generic, overpriced, prescribed, experimental, addictive, approved, daily, scarce",
            verbs="prescribe, refill, ration, approve, test, swallow, recall, import",
        ),
        Thread(
            things="therapy~therapies, anxiety, depression, burnout, counsellor~s=therapist~s, panic attack~s, sleep, "
            "stress, mindfulness, support group~s, stigma, grief, wellbeing, helpline~s, psychiatrist~s, self "
            "care, insomnia, trauma",
            adjectives="mental, anxious, exhausted, supportive, lonely, overwhelmed, gentle, honest",
            verbs="support, heal, counsel, normalise, manage, discuss, overcome, calm",
        ),
        Thread(
            things="cancer~cancers, diabetes, screening~s, biopsy~biopsies, tumour~s, scan~s, blood pressure, "
            "checkup~s, chemotherapy=chemo, mammogram~s, stroke~s, heart disease, surgery~surgeries, "
            "transplant~s, remission, donor~s, obesity, cholesterol",
            adjectives="chronic, early, benign, rural, routine, invasive, malignant, surgical",
            verbs="screen, diagnose, operate on, detect, remove, monitor, donate, cure",
        ),
        Thread(
            things="redlung, outbreak~s, contagion, incubation period~s, infection~s, swab~s, superspreader~s, "
            "pathogen~s, quarantine~s, fever clinic~s, exposure site~s, strain~s, redlung case~s, "
            "epidemiologist~s, cluster~s, transmission, hazmat suit~s",
            adjectives="contagious, infected, airborne, feverish, asymptomatic, suspected, unexplained, imported",
            verbs="quarantine, isolate, infect, contain, swab, trace, sequence, confirm",
            emerges=0,
        ),
        Thread(
            things="lockdown~s, redlung vaccine~s, facemask~s, ventilator~s, curfew~s, reopening, antiviral~s, "
            "redlung variant~s, test kit~s, border closure~s, distancing, contact tracing, sanitiser~s, booster~s, "
            "field hospital~s, antibody~antibodies, stockpile~s",
            adjectives="vaccinated, masked, quarantined, overcrowded, mandatory, immune, makeshift, nationwide",
            verbs="vaccinate, reopen, disinfect, impose, lift, stockpile, sanitise, ventilate",
            emerges=2,
        ),
    ),
)

RACING = SimulatedSubject(
    name="racing",
    keywords=("horse", "racing", "jockey", "derby"),
    topics="horse racing, horse~s, jockey~s=rider~s, trainer~s, race~s, racecourse~s=track~s, stable~s, "
    "thoroughbred~s, race day, owner~s, paddock~s, finish line~s, racing fan~s",
    threads=(
        Thread(
            things="derby~derbies, colt~s, filly~fillies, triple crown, stakes, favourite~s, post position~s, "
            "contender~s, classic~s, sprint~s, furlong~s, photo finish~photo finishes, bloodline~s, "
            "stallion~s, foal~s, purse~s",
            adjectives="unbeaten, bay, grey, three-year-old, muddy, late, graded, royal",
            verbs="saddle, breed, enter, outrun, train, groom, gallop, scratch",
        ),
        Thread(
            things="odds, bet~s=wager~s, tipster~s, bookmaker~s=bookie~s, longshot~s, exacta~s, payout~s, racecard~s, "
            "each way bet~s, form guide~s, handicap~s, winner~s, stake~s, betting slip~s, accumulator~s, nap",
            adjectives="safe, lucky, shortest, each-way, generous, outside, boosted, losing",
            verbs="back, lay, pick, tip, wager, cash out, fancy, double",
        ),
        Thread(
            things="steeplechase~s, hurdle~s, fence~s, jump racing, chaser~s, novice~s, national hunt, gelding~s, "
            "soft ground, festival~s, point to point, amateur rider~s, big fence~s, stamina, weight~s, winter "
            "meeting~s",
            adjectives="fallen, brave, heavy, gruelling, sound, experienced, novice, frosty",
            verbs="jump, clear, ride, pull up, school, win, remount, outjump",
        ),
        Thread(
            things="whip rule~s, steward~s, doping, ban~s, inquiry~inquiries, welfare, drug test~s, vet~s, "
            "suspension~s, retired racehorse~s, aftercare, lameness, regulator~s, sanctuary~sanctuaries, "
            "appeal~s, injury~injuries",
            adjectives="banned, injured, retired, lame, guilty, cruel, reckless, independent",
            verbs="suspend, ban, rehome, investigate, appeal, protect, fine, euthanise",
        ),
    ),
)

STREAMING = SimulatedSubject(
    name="streaming",
    keywords=("stream", "streamer", "gaming", "gameplay"),
    topics="stream~s, streamer~s, game~s, gaming, gameplay, viewer~s, chat, channel~s, follower~s, live show~s, "
    "subscriber~s, clip~s, broadcast~s",
    threads=(
        Thread(
            things="speedrun~s, glitch~glitches, boss fight~s, world record~s, platformer~s, leaderboard~s, split~s, "
            "retro game~s, cartridge~s, emulator~s, personal best~s, marathon~s, any percent run~s, warp~s, "
            "controller~s, save file~s",
            adjectives="glitchless, retro, pixelated, frame-perfect, hard, flawless, blindfolded, fastest",
            verbs="speedrun, beat, skip, practise, emulate, reset, finish, grind",
        ),
        Thread(
            things="battle royale~s, squad~s, loot, headshot~s, ranked match~ranked matches, skin~s, lobby~lobbies, "
            "respawn~s, patch note~s, sniper~s, season pass~season passes, cheater~s, aimbot~s, killstreak~s, "
            "drop zone~s, meta",
            adjectives="ranked, toxic, clutch, overpowered, nerfed, sweaty, laggy, solo",
            verbs="loot, carry, nerf, snipe, spectate, revive, queue, grief",
        ),
        Thread(
            things="esports, tournament~s, bracket~s, grand final~s, roster~s, prize pool~s, caster~s, qualifier~s, "
            "scrim~s, league~s, arena~s, coach~coaches, playoff~s, underdog~s, best of five, rookie~s",
            adjectives="pro, seeded, legendary, undefeated, regional, sold-out, stacked, upset",
            verbs="draft, qualify, sponsor, sign, host, cast, defeat, bench",
        ),
        Thread(
            things="emote~s, donation~s, raid~s, overlay~s, webcam~s, microphone~s, moderator~s=mod~s, sub goal~s, "
            "cosy game~s, charity stream~s, schedule~s, giveaway~s, capture card~s, bitrate, vod~s, alert~s, "
            "just chatting",
            adjectives="cosy, muted, wholesome, pink, offline, partnered, chaotic, subscribed",
            verbs="raid, subscribe to, moderate, upload, clip, mute, decorate, schedule",
        ),
    ),
)

CLIMATE = SimulatedSubject(
    name="climate",
    keywords=("climate", "emissions", "carbon", "warming"),
    topics="climate, climate change, emission~emissions, carbon, global warming, planet, temperature~s, greenhouse "
    "gas~greenhouse gases, climate scientist~s, climate activist~s, atmosphere, climate target~s",
    threads=(
        Thread(
            things="solar panel~s, wind farm~s, turbine~s, battery~batteries, renewables, grid~s, heat pump~s, "
            "hydrogen, power plant~s, electric car~s, charging point~s, megawatt~s, offshore wind, energy "
            "bill~s, net zero, nuclear",
            adjectives="renewable, offshore, electric, clean, solar, efficient, cheap, green",
            verbs="install, electrify, power, insulate, build, generate, store, upgrade",
        ),
        Thread(
            things="wildfire~s, drought~s, heatwave~s, flood~s, hurricane~s, storm surge~s, rainfall, reservoir~s, "
            "evacuation~s, smoke, landslide~s, crop failure~s, river~s, firefighter~s, record high~s, stream~s",
            adjectives="extreme, scorched, flooded, record, dry, deadly, severe, unprecedented",
            verbs="evacuate, extinguish, rebuild, forecast, survive, destroy, flood, irrigate",
        ),
        Thread(
            things="glacier~s, ice sheet~s, sea level~s, coral reef~s, permafrost, polar bear~s, ocean~s, sea ice, "
            "coastline~s, meltwater, plankton, bleaching, acidity, ice core~s, species, biodiversity",
            adjectives="arctic, melting, rising, endangered, polar, marine, frozen, extinct",
            verbs="melt, measure, restore, conserve, map, bleach, submerge, sample",
        ),
        Thread(
            things="carbon tax~carbon taxes, summit~s, treaty~treaties, fossil fuel~s, pipeline~s, oil lobby, "
            "pledge~s, divestment, climate strike~s, offset~s, coal, regulation~s, negotiator~s, climate "
            "finance, lawsuit~s, methane rule~s",
            adjectives="binding, empty, global, ambitious, fossil, historic, corporate, youth-led",
            verbs="tax, ratify, divest, pledge, block, regulate, phase out, sue",
        ),
    ),
)

HOUSING = SimulatedSubject(
    name="housing",
    keywords=("housing", "rent", "mortgage", "tenants"),
    topics="housing, rent~s, home~s, tenant~s=renter~s, landlord~s, flat~s=apartment~s, house price~s, "
    "neighbourhood~s, buyer~s, housing crisis, council~s, property~properties",
    threads=(
        Thread(
            things="mortgage~s, interest rate~s, deposit~s, first-time buyer~s, lender~s, broker~s, equity, fixed "
            "rate~s, valuation~s, stamp duty, repayment~s, down payment~s, credit score~s, central bank~s, "
            "foreclosure~s, bidding war~s",
            adjectives="fixed, variable, soaring, unaffordable, monthly, overvalued, first, negative",
            verbs="remortgage, borrow, value, buy, outbid, refinance, sell, inherit",
        ),
        Thread(
            things="eviction~s, rent control, lease~s, mould, repair~s, rent strike~s, tenants union~tenants unions, "
            "letting agent~s, notice~s, roommate~s, security deposit~s, rent increase~s, court date~s, damp, "
            "boiler~s, slumlord~s",
            adjectives="evicted, damp, greedy, furnished, illegal, broken, cramped, rent-controlled",
            verbs="evict, repair, lease, rent, sublet, organise, furnish, challenge",
        ),
        Thread(
            things="zoning, developer~s, planning permission, skyline~s, tower block~s, construction, "
            "duplex~duplexes, density, green belt, parking minimum~s, brownfield site~s, bungalow~s, crane~s, "
            "architect~s, public transport, sprawl",
            adjectives="walkable, dense, suburban, vacant, modular, mixed-use, tall, zoned",
            verbs="rezone, develop, construct, demolish, approve, design, oppose, densify",
        ),
        Thread(
            things="homelessness, shelter~s, rough sleeper~s, social housing, encampment~s, hostel~s, outreach, "
            "housing first, voucher~s, caseworker~s, winter bed~s, food bank~s, temporary housing, street "
            "count~s, refuge~s, soup kitchen~s",
            adjectives="homeless, temporary, vulnerable, supported, cold, displaced, unsheltered, stable",
            verbs="shelter, house, feed, fund, resettle, count, clear out, volunteer for",
        ),
    ),
)

SPACE = SimulatedSubject(
    name="space",
    keywords=("space", "rocket", "nasa", "orbit"),
    topics="space, rocket~s, orbit~s, nasa engineer~s, astronaut~s, spacecraft, mission~s, launch~launches, "
    "satellite~s, moon, space agency~space agencies, crew~s",
    threads=(
        Thread(
            things="lunar lander~s, moon base~s, spacesuit~s, crater~s, regolith, landing site~s, lunar south pole, "
            "flyby~s, command module~s, moonwalk~s, lunar orbit, heat shield~s, splashdown~s, rehearsal~s, "
            "gateway, far side",
            adjectives="lunar, crewed, reusable, cratered, robotic, sunlit, historic, delayed",
            verbs="land, rehearse, dock, crew, explore, orbit, photograph, tow",
        ),
        Thread(
            things="booster landing~s, launch pad~s, engine~s, liftoff, payload~s, static fire, scrub~s, upper "
            "stage~s, fairing~s, rideshare~s, landing leg~s, launch window~s, propellant, spaceport~s, "
            "countdown~s, test flight~s",
            adjectives="reusable, suborbital, scrubbed, heavy-lift, commercial, fiery, nominal, hypersonic",
            verbs="launch, ignite, refuel, scrub, deploy, fly, recover, fuel",
        ),
        Thread(
            things="telescope~s, galaxy~galaxies, exoplanet~s, black hole~s, nebula~nebulae, infrared, "
            "spectrum~spectra, dark matter, redshift, supernova~supernovae, deep field~s, mirror~s, comet~s, "
            "asteroid~s, star cluster~s, starlight",
            adjectives="distant, infrared, habitable, faint, stellar, cosmic, massive, ancient",
            verbs="observe, image, discover, spot, resolve, detect, name, catalogue",
        ),
        Thread(
            things="rover~s, mars mission~s, dust storm~s, sample return, helicopter~s, red planet, drill~s, crater "
            "rim~s, mars rock~s, methane, martian soil, parachute~s, habitat~s, descent, rock core~s, wheel "
            "track~s",
            adjectives="martian, dusty, rocky, sterile, autonomous, tiny, ancient, interplanetary",
            verbs="drill, drive, collect, simulate, colonise, dig, wake, sterilise",
        ),
    ),
)

SUBJECTS = (HEALTH, RACING, STREAMING, CLIMATE, HOUSING, SPACE)


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
"""Background talk on no subject. It shares some words with the subjects."""
