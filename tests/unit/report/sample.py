"""A report as a health team might get it: hand-made, with every part filled."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from klda.advice.explanation import Action, Example, FrontierPoint, Reason
from klda.advice.proposal import Proposal
from klda.advice.topics import TopicShare
from klda.report.content import Activity, Comparison, Report, WordChange
from klda.types import Budget, Estimate, Keyword, KeywordSet

FIRST = datetime(2020, 1, 20, tzinfo=UTC)
WEEKS = tuple(FIRST + timedelta(weeks=week) for week in range(11))

KEEP = ("health", "medicare", "drug", "hospital", "insurance", "nurse")
ADD = (
    Keyword("masks", ("masks", "mask")),
    Keyword("ventilators", ("ventilators", "ventilator")),
    Keyword("testing", ("testing", "tests", "test", "tested")),
    Keyword("public health"),
    Keyword("ppe"),
)
DROP = ("vaping", "opioid")
HOLD = ("stimulus", "school")

VOLUME = {
    "health": [2900, 2850, 3010, 3200, 3150, 3480, 4200, 5100, 5600, 5400, 5250],
    "medicare": [900, 880, 910, 870, 860, 850, 700, 610, 560, 540, 530],
    "drug": [1500, 1600, 1450, 1400, 1380, 1350, 1100, 900, 800, 760, 790],
    "hospital": [300, 310, 340, 400, 420, 520, 1000, 1900, 2600, 2900, 2800],
    "insurance": [600, 620, 590, 610, 630, 640, 700, 820, 900, 880, 870],
    "nurse": [90, 80, 100, 110, 120, 150, 300, 620, 900, 1150, 1200],
    "masks": [5, 12, 30, 60, 110, 240, 600, 1200, 1900, 2300, 2500],
    "ventilators": [0, 0, 2, 3, 8, 30, 210, 700, 1300, 1500, 1480],
    "testing": [120, 130, 150, 190, 260, 700, 1600, 2400, 2300, 2100, 2050],
    "public health": [210, 230, 300, 420, 450, 600, 900, 1300, 1250, 1200, 1180],
    "ppe": [0, 0, 1, 2, 4, 14, 120, 520, 900, 1250, 1300],
    "vaping": [420, 390, 310, 260, 180, 90, 30, 14, 10, 8, 6],
    "opioid": [240, 260, 230, 220, 210, 160, 80, 50, 44, 40, 38],
    "tobacco": [160, 150, 140, 120, 110, 70, 30, 12, 10, 9, 8],
}
FIRST_ACTIVE = {
    "hospital": 6,
    "nurse": 8,
    "masks": 99,
    "ventilators": 99,
    "testing": 99,
    "public health": 99,
    "ppe": 99,
}
LAST_ACTIVE = {"tobacco": 5}

POSTS = {
    "masks": (
        "Our hospitals are running out of masks. We need the Defense Production Act used to its full extent, today.",
        "Proud of the volunteers in Akron who sewed 1,200 masks for nurses and first responders this week.",
        "Reminder: a mask protects the people around you. https://example.org/guidance",
    ),
    "ventilators": ("New York alone may need 30,000 ventilators. FEMA has sent 400.",),
    "testing": (
        "We cannot reopen safely without widespread testing. Where are the tests the President promised?",
        "Drive-through testing opens Monday at the fairgrounds; call your doctor first.",
    ),
    "public health": ("Thank you to every public health worker going without sleep this week. 🙏",),
    "ppe": ("Front-line workers are re-using PPE for days. This is unacceptable in the richest country on earth.",),
    "vaping": ("The flavored vaping ban goes into effect today.",),
}


def estimate(mean: float, spread: float = 0.14) -> Estimate:
    return Estimate(mean, mean * (1 - spread), mean * (1 + 1.2 * spread))


def reason(
    keyword: Keyword,
    action: Action,
    text: str,
    gained: tuple[str, ...] = (),
    lost: tuple[str, ...] = (),
    extends: str | None = None,
    scores: tuple[float, float, float] | None = None,
) -> Reason:
    last = VOLUME.get(keyword.text, [700])[-1]
    divergence, distance, drift = scores or (None, None, None)
    return Reason(
        keyword,
        action,
        text,
        frequency=last / 21_000,
        expected_posts=estimate(last * 1.03, 0.14 if last > 500 else 0.3),
        divergence=None if divergence is None else estimate(divergence),
        high_frequency_distance=None if distance is None else estimate(distance),
        distance_from_subject=drift,
        gained=gained,
        lost=lost,
        extends=extends,
        examples=tuple(Example(f"{keyword}-{i}", post) for i, post in enumerate(POSTS.get(keyword.text, ()))),
    )


REASONS = (
    reason(Keyword("health"), "keep", "Carries most of the subject: a quarter of last week's posts have it."),
    reason(Keyword("medicare"), "keep", "The only keyword that brings enrolment and premiums; required by you."),
    reason(Keyword("drug"), "keep", "Falling, but still the way to prices and prescriptions."),
    reason(Keyword("hospital"), "keep", "Tripled in four weeks and shares nine of its ten topics' words with health."),
    reason(Keyword("insurance"), "keep", "Steady; loses nothing above 0.1 % of posts."),
    reason(Keyword("nurse"), "keep", "Growing, and close to hospital."),
    reason(
        ADD[0],
        "add",
        "Carries on hospital and brings supplies and shortages, which the list hardly sees today.",
        ("shortage", "supplies", "n95", "sewing", "stockpile"),
        (),
        "hospital",
        (0.41, 5.2, 0.22),
    ),
    reason(
        ADD[1],
        "add",
        "Carries on hospital; three posts in four are not collected today.",
        ("production", "fema", "stockpile", "defense"),
        ("premiums",),
        "hospital",
        (0.52, 4.1, 0.27),
    ),
    reason(
        ADD[2],
        "add",
        "Carries on health and brings the debate on who is tested, and when.",
        ("kits", "labs", "drive-through", "reopen"),
        ("enrolment",),
        "health",
        (0.37, 6.0, 0.18),
    ),
    reason(
        ADD[3],
        "add",
        "Closest of all candidates to health: almost no topic is lost.",
        ("officials", "guidance", "distancing"),
        (),
        "health",
        (0.19, 2.4, 0.08),
    ),
    reason(
        ADD[4],
        "add",
        "Rising by a third a week; four in five of its posts are about staff on the front line.",
        ("front-line", "gloves", "re-using"),
        (),
        "nurse",
        (0.47, 3.3, 0.24),
    ),
    reason(
        Keyword("vaping"), "drop", "Six posts last week; its subject has left the stream.", lost=("flavored", "juul")
    ),
    reason(Keyword("opioid"), "drop", "What it brings also comes with drug.", lost=("overdose", "addiction")),
    reason(
        Keyword("stimulus"),
        "hold",
        "Would bring many posts, but most are about cheques, not health: 71 % away from the subject.",
        ("checks", "payroll", "unemployment"),
        scores=(0.93, 7.5, 0.71),
    ),
    reason(
        Keyword("school"),
        "hold",
        "Common everywhere: its share of all posts is as high as its share of health posts.",
        ("students", "meals"),
        scores=(0.88, 4.4, 0.66),
    ),
)

NEXT_LIST = KEEP + tuple(k.text for k in ADD)
FRONTIER = tuple(
    FrontierPoint(novelty, retention, new_ground, posts, keywords)
    for novelty, retention, new_ground, posts, keywords in (
        (0.0, 0.97, 0.03, 8_900, KEEP + DROP),
        (0.15, 0.955, 0.09, 9_300, (*KEEP, "public health")),
        (0.3, 0.93, 0.17, 10_100, (*KEEP, "public health", "testing")),
        (0.4, 0.905, 0.23, 10_600, (*KEEP, "public health", "testing", "masks")),
        (0.5, 0.87, 0.285, 11_150, NEXT_LIST),
        (0.65, 0.79, 0.34, 11_400, (*NEXT_LIST[1:], "stimulus")),
        (0.8, 0.66, 0.385, 11_700, (*NEXT_LIST[2:], "stimulus", "school")),
        (1.0, 0.45, 0.41, 11_950, (*NEXT_LIST[4:], "stimulus", "school", "senate")),
    )
)

PROPOSAL = Proposal(
    policy="klda",
    current=KeywordSet.of(*KEEP, *DROP),
    ranked=KeywordSet(ADD),
    keep=KeywordSet.of(*KEEP),
    add=KeywordSet(ADD),
    drop=KeywordSet.of(*DROP),
    reasons=REASONS,
    expected_posts=Estimate(11_150, 10_100, 12_400),
    distance_from_subject=0.16,
    frontier=FRONTIER,
    notes=("Reposts were left out, because the archive does not say what they repost.",),
    window="2020-04-06T00:00:00+00:00",
    seed=0,
)

ACTIVITY = tuple(
    Activity(WEEKS[week], keyword, posts, posts * 0.72 if active else 0.0, active)
    for keyword, volumes in VOLUME.items()
    for week, posts in enumerate(volumes)
    for active in [FIRST_ACTIVE.get(keyword, 0) <= week <= LAST_ACTIVE.get(keyword, 99)]
)

TOPICS = (
    TopicShare(
        ("coronavirus", "response", "cases", "spread", "officials", "guidance", "emergency", "distancing"),
        0.27,
        0.31,
        ("cases", "distancing"),
    ),
    TopicShare(
        ("workers", "hospitals", "supplies", "shortage", "patients", "nurses", "front-line", "gloves"),
        0.13,
        0.25,
        ("supplies", "shortage", "front-line", "gloves"),
    ),
    TopicShare(("care", "coverage", "affordable", "americans", "conditions", "protect", "uninsured", "aca"), 0.34, 0.2),
    TopicShare(
        ("kits", "labs", "drive-through", "results", "available", "free", "reopen", "county"),
        0.09,
        0.14,
        ("kits", "labs", "drive-through", "reopen"),
    ),
    TopicShare(("prices", "prescription", "costs", "seniors", "lower", "pay", "insulin", "pharma"), 0.17, 0.1),
)

WORDS = tuple(
    WordChange(word, current, proposed)
    for word, current, proposed in (
        ("supplies", 0.021, 0.068),
        ("shortage", 0.008, 0.047),
        ("kits", 0.004, 0.038),
        ("front-line", 0.031, 0.064),
        ("workers", 0.092, 0.121),
        ("stockpile", 0.003, 0.027),
        ("fema", 0.005, 0.026),
        ("distancing", 0.028, 0.045),
        ("n95", 0.002, 0.018),
        ("labs", 0.006, 0.019),
        ("enrolment", 0.014, 0.010),
        ("overdose", 0.009, 0.003),
        ("flavored", 0.008, 0.0004),
        ("prices", 0.061, 0.049),
        ("premiums", 0.034, 0.021),
        ("prescription", 0.074, 0.057),
        ("coverage", 0.128, 0.104),
    )
)

COMPARISON = Comparison(
    "Of the ten keywords that brought most of the subject in the week that followed, how many each method had named.",
    ("method", "found", "on subject", "posts"),
    (
        ("klda", "7 of 10", "78 %", "11,204"),
        ("counting", "6 of 10", "74 %", "10,870"),
        ("viral", "4 of 10", "61 %", "14,020"),
        ("static list", "3 of 10", "80 %", "8,911"),
        ("random", "1 of 10", "33 %", "9,450"),
    ),
)

REPORT = Report(
    proposal=PROPOSAL,
    title="What to follow next on health",
    subject="health",
    budget=Budget(max_keywords=20, max_posts=12_000),
    activity=ACTIVITY,
    words=WORDS,
    topics=TOPICS,
    comparison=COMPARISON,
    settings={"novelty": "0.5", "topics": "5", "window": "7 days", "posts read": "93,214"},
)
