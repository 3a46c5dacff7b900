"""Every experiment still applies to its step's text, is right, and shows its change."""

import pytest
from sampling import sampled

import gemmlab as lab
from gemmlab.core.errors import ArgumentError
from gemmlab.experiments.variants import EXPERIMENTS


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(list(EXPERIMENTS)))
def test_experiment_is_a_right_variant(name):
    changed = lab.experiment(name)
    assert changed.title == name
    assert [line.mark for line in lab.diff(changed).lines].count("+") >= len(EXPERIMENTS[name][1])
    M, N, K = (2 * of for of in changed.spec.multiple_of)
    shape = (M, max(M, N), 3 * K)  # for tiles that were turned, too
    first = changed.spec.precisions[:1]
    assert lab.check(changed, shapes=[shape], device="cpu", precisions=first).ok


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiment_is_recorded(name):
    recorded = lab.measurements.load(family=lab.experiment(name).spec.family).bench(
        experiments=True
    )
    assert recorded.row(name).tflops > 0


def test_unknown_experiment_names_those_there_are():
    with pytest.raises(ArgumentError, match="blocks of 16x16"):
        lab.experiment("nothing")


def test_errors_show_their_message_and_no_stack():
    with pytest.raises(lab.GemmlabError) as caught:
        lab.experiment("nothing")
    assert caught.value._render_traceback_() == [f"ArgumentError: {caught.value}"]
