"""Tests cannot reach anything outside this machine, and hold no credentials of the person who runs them."""

import os
import socket

import pytest
from pytest_socket import SocketConnectBlockedError


@pytest.mark.parametrize("address", [("192.0.2.1", 443), ("::ffff:192.0.2.1", 443, 0, 0)])
def test_a_connection_to_another_machine_is_refused(address: tuple[str, int]) -> None:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with (
        socket.socket(family) as unconnected,
        pytest.raises(SocketConnectBlockedError, match=address[0]),
        pytest.warns(UserWarning, match=address[0]),
    ):
        unconnected.connect(address)


def test_a_look_up_of_another_machine_is_refused() -> None:
    with pytest.raises(ConnectionRefusedError, match=r"a test tried to look up sts\.amazonaws\.com"):
        socket.create_connection(("sts.amazonaws.com", 443))


def test_a_connection_to_this_machine_passes() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert client.getpeername() == server.getsockname()


def test_credentials_are_fake_and_no_profile_is_read() -> None:
    assert os.environ["AWS_ACCESS_KEY_ID"] == "testing"
    assert os.environ["AWS_SHARED_CREDENTIALS_FILE"] == os.devnull
    assert "AWS_PROFILE" not in os.environ
