from svc_jupyter.service.access.caller_reading import CallerCache, KnownCaller
from svc_jupyter.service.access.callers import Caller


def known(number: int = 1, read_at: float = 100.0) -> KnownCaller:
    return KnownCaller(Caller(user_id=number, account_id=1, email="a@b", groups=frozenset(), token_id=number), read_at)


def test_a_caller_is_known_after_it_was_put():
    cache = CallerCache()
    assert cache.get("a", 100) is None
    cache.put("a", known(), cache.generation)
    assert cache.get("a", 1e12) == known()


def test_a_caller_is_read_again_after_the_maximal_age_and_after_the_clock_was_set_back():
    cache = CallerCache(max_age=5)
    cache.put("a", known(read_at=100), cache.generation)
    assert cache.get("a", 104.9) is not None
    assert cache.get("a", 105) is None
    assert cache.get("a", 99) is None


def test_a_caller_read_before_a_change_is_not_cached_after_it():
    cache = CallerCache()
    before = cache.generation
    cache.clear()
    cache.put("a", known(), before)
    assert cache.get("a", 100) is None


def test_nothing_is_known_after_a_clear():
    cache = CallerCache()
    cache.put("a", known(), cache.generation)
    cache.clear()
    assert cache.get("a", 100) is None


def test_the_one_remembered_longest_makes_room():
    cache = CallerCache(limit=2)
    for number, digest in enumerate("abc"):
        cache.put(digest, known(number), cache.generation)
    assert [cache.get(digest, 100) is not None for digest in "abc"] == [False, True, True]


def test_reading_a_caller_again_takes_no_further_room():
    cache = CallerCache(limit=2)
    for digest in "abbb":
        cache.put(digest, known(), cache.generation)
    assert cache.get("a", 100) is not None
