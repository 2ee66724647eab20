"""Forty further subjects of reddit_2013: groups of subreddits that the archive's own subjects do not use.

The first list of each is made as those of the archive were: the ten words with the best on-topic F1 in weeks 1 and 2.
Half of the subjects, drawn by lot, are `tune`: settings were chosen on them. Half are `score`. The file is for
`klda backtest --subjects`.

    python -m benchmarks.subjects reddit_2013.parquet [--out further_subjects.json] [--narrow cars,atheism --to FILE]

With `--narrow` only posts of those subjects are kept, in an archive of their own: a stream in which each subject is a
large part of what is said, and its everyday words are in place.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from klda.baselines.incidence import words_in
from klda.evaluation.archive import Archive
from klda.posts.reader import read_posts
from klda.text.corpus import Corpus
from klda.text.stopwords import STOP_WORDS
from klda.text.text_settings import TextSettings

N_KEYWORDS, FEWEST_HITS, LEAST_F1, SHORTEST = 10, 5, 0.02, 3
WEEKS = (0, 1)

GROUPS = {
    "android": "androidapps nexus4 AndroidGaming windowsphone Android tasker pebble googleglass",
    "anime": "ShingekiNoKyojin awwnime Animesuggest anime evangelion manga animenocontext",
    "apple": "ios jailbreak iOSthemes apple iphone AppHookup ipad",
    "atheism": "atheism atheismrebooted magicskyfairy TrueAtheism atheistvids DebateAnAtheist exmormon",
    "australia": "australia melbourne sydney AFL brisbane perth",
    "baseball": "Dodgers Braves orioles mlb fantasybaseball baseball NYYankees SFGiants Cardinals Tigers",
    "basketball": "nba lakers chicagobulls CollegeBasketball NBA2k heat",
    "bikes": "bikecommuting peloton bicycling MTB FixedGearBicycle motorcycles",
    "canada": "CanadaPolitics canada toronto vancouver ontario Calgary",
    "cannabis": "trees vaporents CannabisExtracts Marijuana highdeas microgrowery treecomics StonerEngineering",
    "card_games": "spikes EDH Magicdeckbuilding DnD Pathfinder_RPG magicTCG rpg boardgames",
    "cars": "Trucks subaru Jeep BMW Honda Mustang Shitty_Car_Mods AutoDetailing carporn MechanicAdvice 4x4 CarAV cars "
    "Justrolledintotheshop Autos",
    "comics": "superman DCcomics marvelstudios comicbookmovies Marvel comicbooks batman comicbookart",
    "cooking": "AskCulinary ramen sushi EatCheapAndHealthy recipes food Cooking shittyfoodporn Baking",
    "doctor_who": "gallifrey DoctorWhumour doctorwho",
    "dogs": "husky pitbulls goldenretrievers germanshepherds pugs labrador Dogtraining puppies dogs dogpictures",
    "drama": "thewalkingdead breakingbad arresteddevelopment community",
    "drugs": "shrooms SilkRoad Drugs LSD opiates DMT",
    "fashion": "Sneakers streetwear rawdenim malefashion malefashionadvice frugalmalefashion femalefashionadvice",
    "fitness": "ketogains xxketo ketorecipes xxfitness bodybuilding bodyweightfitness progresspics loseit Fitness keto",
    "gender": "MensRights Feminism TwoXChromosomes TheRedPill againstmensrights ShitRedditSays",
    "hockey": "hawks penguins nhl hockey DetroitRedWings leafs rangers",
    "lgbt": "askgaybros lgbt gay asktransgender ainbow actuallesbians",
    "linux": "linux Ubuntu linux4noobs archlinux commandline sysadmin",
    "makeup": "MakeupAddiction SkincareAddiction RedditLaqueristas FancyFollicles Hair TheGirlSurvivalGuide",
    "martial_arts": "MMA ufc bjj",
    "military": "army USMC Military WarshipPorn CombatFootage MilitaryPorn navy AirForce",
    "minecraft": "feedthebeast mindcrack Minecraft Civcraft admincraft Yogscast",
    "moba": "leagueoflegends DotA2 summonerschool Smite LeagueOfMemes LOLDyrus Awesomenauts",
    "music": "EDM DaftPunk trap electronicmusic dubstep Music hiphopheads",
    "nfl": "nfl fantasyfootball eagles CHIBears GreenBayPackers 49ers",
    "pc": "buildapc buildapcforme hardwareswap buildapcsales pcmasterrace techsupport SuggestALaptop",
    "photography": "analog gopro photography photocritique Polaroid itookapicture",
    "pokemon": "pokemon PokemonROMhacks Pokemongiveaway nintendo3ds stunfisk",
    "programming": "learnjavascript programming learnprogramming webdev Python javascript gamedev",
    "religion": "Christianity islam Buddhism Catholicism DebateReligion",
    "strategy": "civ paradoxplaza CrusaderKings totalwar aoe2 eu4",
    "uk": "unitedkingdom ukpolitics britishproblems britpics london",
    "war_games": "battlefield_4 Battlefield battlefield3 arma Warthunder WorldofTanks mwo Planetside",
    "wrestling": "SquaredCircle WWE",
}
TUNE = (
    "anime apple atheism australia baseball bikes cars comics cooking doctor_who fashion fitness lgbt martial_arts "
    "minecraft music nfl pc religion wrestling"
)


def first_list(words: csr_array, names: NDArray[np.str_], relevant: NDArray[np.bool_]) -> list[str]:
    """The words that best tell posts on a subject, each by itself. `words` (D, V) are 0 or 1, `relevant` is (D,)."""
    posts = np.asarray(words.sum(axis=0)).ravel()
    hits = np.asarray(relevant.astype(np.float64) @ words).ravel()
    f1 = np.where(hits >= FEWEST_HITS, 2 * hits / (posts + relevant.sum()), 0.0)
    best = np.argsort(-f1, kind="stable")[:N_KEYWORDS]
    return [str(names[word]) for word in best if f1[word] > LEAST_F1]


def usable_words(archive: Archive, inside: NDArray[np.int64]) -> tuple[NDArray[np.str_], csr_array]:
    """Words that a first list may have, and which of the posts at these positions have them. # (V,), (D, V)"""
    words = np.array(archive.corpus.vocabulary.words)
    usable = [w.isalpha() and len(w) >= SHORTEST and w not in STOP_WORDS["en"] for w in words]
    chosen = np.flatnonzero(usable)
    return words[chosen], csr_array(words_in(archive.documents.take(inside), len(words))[:, chosen])


def further_subjects(archive: Archive, names: Iterable[str] = GROUPS) -> list[dict[str, Any]]:
    """These subjects, all forty if left out, as a subjects file has them."""
    inside = np.concatenate([archive.positions(week) for week in WEEKS])
    labels, (words, present) = archive.labels[inside], usable_words(archive, inside)
    return [
        {
            "name": name,
            "keywords": first_list(present, words, np.isin(labels, group.split())),
            "labels": group.split(),
            "split": "tune" if name in TUNE.split() else "score",
        }
        for name, group in ((name, GROUPS[name]) for name in names)
    ]


def main() -> None:
    """Writes the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path, help="reddit_2013.parquet")
    parser.add_argument("--out", type=Path, default=Path("further_subjects.json"))
    parser.add_argument("--narrow", help="names of subjects, with commas: only their posts, and only these subjects")
    parser.add_argument("--to", type=Path, default=Path("narrow.parquet"), help="the narrower archive")
    given = parser.parse_args()
    names = given.narrow.split(",") if given.narrow else list(GROUPS)
    if unknown := set(names) - GROUPS.keys():
        parser.error(f"--narrow: no subject {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    if given.narrow:
        kept = [label for name in names for label in GROUPS[name].split()]
        pl.scan_parquet(given.archive).filter(pl.col("label").is_in(kept)).sink_parquet(given.to)
    posts = read_posts(given.to if given.narrow else given.archive)
    corpus = Corpus.from_posts(posts, ["reddit"], settings=TextSettings(stem=False))
    subjects = further_subjects(Archive(corpus), names)
    given.out.write_text(json.dumps({"subjects": subjects}, indent=1), encoding="utf-8")
    print(json.dumps({"subjects": len(subjects), "file": str(given.out)}))


if __name__ == "__main__":
    main()
