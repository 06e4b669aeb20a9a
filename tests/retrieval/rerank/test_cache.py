"""Scores under digests."""

import threading

from retrieval.rerank.cache import ScoreCache


def test_the_score_asked_for_longest_ago_makes_room() -> None:
    cache = ScoreCache(2)
    a, b, c = (cache.key(name) for name in "abc")
    cache.put(a, 0.1)
    cache.put(b, 0.2)
    assert cache.get(a) == 0.1
    cache.put(c, 0.3)
    assert [cache.get(key) for key in (a, b, c)] == [0.1, None, 0.3]
    assert len(cache) == 2


def test_a_key_depends_on_every_part_and_where_it_ends() -> None:
    cache = ScoreCache(1)
    keys = [cache.key(*parts) for parts in [("m", "q", "p"), ("m", "qp", ""), ("mq", "p"), ("m",)]]
    assert len(set(keys)) == 4
    assert cache.key("m", "q", "p") == keys[0]
    assert cache.key("\ud800") != cache.key("")


def test_nothing_of_a_text_is_kept_and_clear_forgets_the_key_too() -> None:
    cache = ScoreCache(5)
    key = cache.key("тайна")
    cache.put(key, 0.5)
    assert key != ScoreCache(5).key("тайна")  # not to be looked up from outside
    cache.clear()
    assert len(cache) == 0
    assert cache.get(key) is None
    assert cache.key("тайна") != key


def test_a_cache_of_no_size_keeps_nothing() -> None:
    cache = ScoreCache(0)
    cache.put(cache.key("a"), 0.5)
    assert len(cache) == 0


def test_threads_share_a_cache() -> None:
    cache = ScoreCache(50)

    def use(start: int) -> None:
        for i in range(start, start + 200):
            key = cache.key(str(i % 80))
            cache.put(key, float(i % 80))
            assert cache.get(key) in (None, float(i % 80))

    threads = [threading.Thread(target=use, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) == 50
