"""Labels bought one round at a time, and the list by the answers of the classifier that bought them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from klda.evaluation.active_learning import features, keywords_by_labels, learn
from klda.evaluation.oracle import best_keywords, best_keywords_for

WEEK = 2


class Person:
    """Answers by the truth, and notes about which posts, round by round."""

    def __init__(self, truth):
        self.truth = truth
        self.rounds = []

    def __call__(self, chosen):
        self.rounds.append(chosen.tolist())
        return self.truth[chosen]

    @property
    def asked(self):
        return [post for chosen in self.rounds for post in chosen]


def posts(n=400, on_topic=0.2, seed=0):
    """Posts of two kinds that have one word each, with other words at random; the first list finds half of one kind."""
    generator = np.random.default_rng(seed)
    truth = generator.random(n) < on_topic
    words = (generator.random((n, 20)) < 0.1).astype(float)
    words[:, 0], words[:, 1] = truth, ~truth
    return csr_array(words), truth, truth & (generator.random(n) < 0.5)


@pytest.mark.parametrize("n_labels", [1, 7, 50, 1_000])
def test_each_post_is_asked_about_once_and_no_more_labels_are_bought_than_given(n_labels):
    found, truth, listed = posts()
    person = Person(truth)
    learn(found, person, listed, n_labels, np.random.default_rng(0))
    assert len(person.asked) == len(set(person.asked)) == min(n_labels, len(truth))


def test_posts_without_a_label_are_told_apart_by_what_others_taught():
    found, truth, listed = posts()
    assert learn(found, Person(truth), listed, 40, np.random.default_rng(0)).tolist() == truth.tolist()


def test_answers_stand_even_if_the_classifier_would_say_otherwise():
    found, truth, listed = posts()
    contrary = np.random.default_rng(1).random(len(truth)) < 0.5  # nothing to learn
    person = Person(contrary)
    told = learn(found, person, listed, 100, np.random.default_rng(0))
    assert told[person.asked].tolist() == contrary[person.asked].tolist()


def test_the_first_round_takes_every_second_post_from_the_first_list():
    found, truth, listed = posts()
    person = Person(truth)
    learn(found, person, listed, 60, np.random.default_rng(0))
    assert listed[person.rounds[0]].tolist() == [True, False] * 3


def test_later_rounds_ask_about_posts_between_the_two_kinds():
    found, truth, listed = posts()
    words = found.toarray()
    unclear = np.arange(300, 310)
    words[unclear, 0] = words[unclear, 1] = 1
    person = Person(truth)
    learn(csr_array(words), person, listed, 40, np.random.default_rng(0))
    later = {post for chosen in person.rounds[1:] for post in chosen}
    assert set(unclear.tolist()) <= later | set(person.rounds[0])


def test_where_all_answers_are_the_same_only_they_are_known():
    found, _, listed = posts()
    nothing = np.zeros(found.shape[0], dtype=bool)
    assert not learn(found, Person(nothing), listed, 30, np.random.default_rng(0)).any()


def test_with_a_label_for_every_post_the_list_is_that_of_the_labels(archive, health):
    n_posts = len(archive.positions(WEEK))
    bought = keywords_by_labels(archive, WEEK, health, 8, np.random.default_rng(0), n_labels=n_posts)
    assert bought == best_keywords(archive, WEEK, health.labels, 8)


def test_few_labels_already_find_words_of_the_subject(archive, health):
    bought = keywords_by_labels(archive, WEEK, health, 8, np.random.default_rng(0), n_labels=200)
    inside = archive.positions(WEEK)
    caught = np.isin(inside, archive.collect(WEEK, bought))
    truth = archive.labelled(inside, health.labels)
    assert truth[caught].mean() > 3 * truth.mean()


def test_features_are_rare_words_and_meaning(archive):
    inside = archive.positions(WEEK)
    found = features(archive, inside)
    n_words = len(archive.corpus.vocabulary)
    words, meaning = found[:, :n_words].toarray(), found[:, n_words:].toarray()
    some = [i for i in range(len(inside)) if words[i].any()]
    np.testing.assert_allclose(np.linalg.norm(words[some], axis=1), 1)
    np.testing.assert_allclose(np.linalg.norm(meaning[some], axis=1), 1, atol=1e-5)
    post = archive.documents.take(inside[some[:1]])
    assert set(np.flatnonzero(words[some[0]])) == set(post.words[post.words > 0].tolist())


def test_the_best_list_may_follow_any_answers(archive, health):
    labels = archive.labelled(archive.positions(WEEK), health.labels)
    assert best_keywords_for(archive, WEEK, labels, 8) == best_keywords(archive, WEEK, health.labels, 8)
    assert not best_keywords_for(archive, WEEK, np.zeros_like(labels), 8)
