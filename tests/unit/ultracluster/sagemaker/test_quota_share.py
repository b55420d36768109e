"""Teams share the instances of a queue by quota."""

import pytest
from tests.unit.ultracluster.sagemaker.training_plans import TRN2, codes, queue

from ultracluster import QuotaShare

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (QuotaShare(name="a b", instances={TRN2: 1}), ["UC6336 shares[0].name"]),
        (QuotaShare(name="a" * 129, instances={TRN2: 1}), ["UC6336 shares[0].name"]),
        (QuotaShare(name="a", instances={TRN2: 5}), [f"UC6336 shares[0].instances.{TRN2}"]),
        (
            QuotaShare(name="a", instances={"ml.p5.48xlarge": 1}),
            ["UC6336 shares[0].instances.ml.p5.48xlarge"],
        ),
        (QuotaShare(name="a", instances={}), ["UC6336 shares[0].instances"]),
        (
            QuotaShare(name="a", instances={TRN2: 1}, borrow_limit_percent=1),
            ["UC6336 shares[0].borrow_limit_percent"],
        ),
        (
            QuotaShare(name="a", instances={TRN2: 1}, sharing="LEND_AND_BORROW", borrow_limit_percent=-2),
            ["UC6336 shares[0].borrow_limit_percent"],
        ),
    ],
)
def test_rejects_a_share_that_batch_would_refuse(share: QuotaShare, expected: list[str]) -> None:
    assert codes(shares=[share]) == expected


def test_rejects_no_shares_and_two_of_one_name() -> None:
    share = QuotaShare(name="a" * 128, instances={TRN2: 4})
    assert codes(shares=[]) == ["UC6336 shares"]
    assert codes(shares=[share, share]) == ["UC6336 shares[1].name"]
    queue(shares=[share])
