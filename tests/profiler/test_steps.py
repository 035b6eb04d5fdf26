"""Steps that several count: the current one is the furthest."""

from rushlight.autograd.profiler import KinetoStepTracker


def test_the_current_step_is_the_furthest_of_all_that_are_counted():
    begin = KinetoStepTracker.current_step()
    KinetoStepTracker.init_step_count("one")
    assert [KinetoStepTracker.increment_step("one") - begin for _ in range(2)] == [1, 2]
    assert KinetoStepTracker.increment_step("another") - begin == 3
    assert KinetoStepTracker.erase_step_count("another") and not KinetoStepTracker.erase_step_count("another")
    assert KinetoStepTracker.increment_step("one") - begin == KinetoStepTracker.current_step() - begin == 3
    assert KinetoStepTracker.erase_step_count("one")
