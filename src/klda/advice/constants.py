"""Every number that steers advice, with its origin. The coefficients of relevance are in relevance.json."""

# what is proposed

RECENT_WINDOWS = 4
"""Windows whose posts say what a word is used for now. The judged words were counted over four weeks."""
FEWEST_POSTS = 3
"""Recent posts that a candidate needs. Fewer than three say nothing about company or context."""
PHRASE_SHARE = 1e-4
"""Share of the recent posts that have to hold a phrase, where that is more than a few: on a stream of 25,000 posts a
week there are 90,000 rarer phrases, and each would bring two posts a week at most."""
MOST_CONTEXT_WORDS = 3.0
"""The most that one word may speak for the subject (log ratio): one slogan must not decide. Not tuned."""
SURE_POSTS = 10
"""Posts at which company and context of a term count half. Of 0, 10 and 30 it transferred best between the archives:
`good` 0.26, 0.39 and 0.36 with coefficients of the other archive."""
UNSEEN_WEIGHT = 0.5
"""What the guess of a word's new posts weighs, where a sample shows none, in posts of the sample. 0.1 and 0.5 differ by
0.001 in the closed loop."""
FEWEST_OUTSIDE = 100
"""Posts without a keyword from which on lift and context are known; below, they are missing."""
LEAST_CONTAINED = 4
"""Letters of a keyword from which on finding it inside another word says something: *war* is in *toward*."""
COMPANY_WORDS, LEAST_COMPANY, MOST_COMPANY = 60, 0.3, 0.95
"""The likeliest words after a first look, the least chance that they need, and the most that one is trusted: posts with
them are likely on the subject. 15 words from 0.7, 30 from 0.5 and 60 from 0.3 found `good` 0.55, 0.57 and 0.57 with
each subject left out, 0.32, 0.37 and 0.39 with each archive left out."""
FARTHEST = 4.0
"""Standard deviations at which a feature is cut off: an odd archive must not leave the range that was fitted. Not
tuned."""
SHORTLIST = 60
"""Best candidates that are matched exactly and handed to the choice: six times the usual room of ten. Not tuned."""
ROOM = 10
"""Keywords that may be added where nobody sets a budget: what a person reads in a minute."""
LEAST_RELEVANCE = 0.6
"""Probability from which on a word is added. Measured with earlier coefficients: in dumps 0.5 and 0.6 find the same,
`good` 0.58 with each subject left out, and 0.7 finds 0.57. By labels the next list has 1.24 and 1.27 times the F1 of
the current one; closed loop 0.269 and 0.276. Chosen on the subjects that docs/results.md reports: they flatter it."""
LOUDNESS = 2.0
"""How much the odds that a word needs grow, where it newly brings as many posts as the list: threefold. By labels, the
next list then has 1.32 times the F1 of the current one, and 0.93 on the subject that loses most; without, 1.27 and
0.80. Starting with the first new post instead of half the list it has 1.34 and 0.945, but holds back words that have
just come up."""
LEAST_KEPT = 0.3
"""Probability below which a current keyword is dropped. Lower than for adding: people chose it. Measured with earlier
coefficients: with each subject left out it drops 10 of 18 current keywords of grade 0, 7 of 29 of grade 1 and 3 of 112
of grade 2; 0.15 drops 5, 1 and 1. By labels the next list has 1.24 times the F1 of the current one, 1.14 with 0.15.
Chosen on the subjects that docs/results.md reports. On a simulated platform, lists on health keep *doctor* and
*medicine*."""
FEWEST_JUDGES = 4
"""Other keywords that it takes to drop one where the subject is not told in words. Of the judged lists, those of two to
four keywords would drop four: *soldiers* (grade 0), *water* and *justice* (1), and *iran* from a list about Iran."""
OFF_SUBJECT_PRICE = 0.5
"""What a word off the subject costs, against 1 that a word on it brings. With 0, 0.5, 1 and 2, `good` is 0.51, 0.52,
0.51 and 0.47 with each archive left out."""
VOLUME_POWER = 0.15
"""How the worth of a word grows with its new posts. With 0, 0.05, 0.1, 0.15 and 0.25, `good` is 0.40, 0.47, 0.50, 0.52
and 0.51 with each archive left out."""
SWAP = 1.5
"""How many times more a word has to be worth than the weakest keyword to take its place, where there is no room."""
LARGEST_RISE = 1.4
"""Log ratio at which a rise counts no more for the dial: fourfold. Not tuned."""
THIN_POSTS = 100
"""Posts that say enough. With fewer that carry a keyword, more windows count as recent and the advice is called
uncertain; with fewer in all, what is rising is not known. Not tuned."""
FEW_POSTS = 1_000
"""Posts below which words with two posts count as candidates: in a week of ten posts hardly a word comes three times.
Not tuned."""

# a first list from a subject in words

FIRST_WORDS = 5
"""Nearest words that take the place of a list when there is none. Of ten words, 4.9 are right on ten judged subjects;
with the nearest words alone 2.4. Other numbers were not measured."""
LEAST_FIRST = 0.35
"""Cosine with the subject from which on a word is near it. Not tuned."""
VOLUME_FIRST = 0.05
"""How nearness grows with a word's posts, so that of two near words the usual one is taken. Not tuned."""
RARE_FIRST = 1e-4
"""Share of the recent posts that such a word needs: rarer ones teach little. Not tuned."""

# what is said of a proposal
CLOSE_COMPANY = 0.5
"""Share of a word's posts beside the list from which on a reason says so first: more often with it than without."""
CLOSE_MEANING = 2.0
"""Standard scores of meaning from which on a reason calls a word close in meaning: one word in forty."""
RISING = 0.7
"""Log ratio from which on a reason calls a word rising: twice its earlier share."""
NEAR_SPELLING = 0.8
"""How alike two words are from which on one may be a misspelling of the other (difflib's ratio): one wrong letter in
five. Not tuned."""
RECENT_HALF_LIFE = 0.5
"""Windows after which a post counts half for the share of a topic, so that the last window does not decide alone."""
WORDS_HALF_LIFE, WORDS_SMOOTHING = 0.7, 100.0
"""Windows after which a post counts half for the words that a list is said to bring, and the tokens of background that
they are mixed with; those of the baseline `counting`, chosen on the tuning subjects."""
