"""What the cases of the field share."""

import pytest


@pytest.fixture(autouse=True)
def answers_have_the_form_of_their_models() -> None:
    """Leave the form of answers alone: cases also ask what moto answers by itself."""
