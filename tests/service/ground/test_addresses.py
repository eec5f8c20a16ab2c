from svc_jupyter.service.ground.addresses import is_public, look_up


def test_addresses_of_the_internet_are_public() -> None:
    addresses = [
        "93.184.216.34",
        "2606:2800:220:1::1",
        "::ffff:93.184.216.34",
        "64:ff9b::5db8:d822",
        "2002:5db8:d822::",
    ]
    assert [address for address in addresses if not is_public(address)] == []


def test_addresses_of_a_machine_or_a_private_network_are_not() -> None:
    addresses = [
        "127.0.0.1",
        "127.8.9.1",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2002:a01:203::1",
    ]
    assert [address for address in addresses if is_public(address)] == []


async def test_a_host_is_judged_by_the_address_it_leads_to_however_it_is_written() -> None:
    hosts = ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1"]
    assert {host: await look_up(host, 80) for host in hosts} == {host: ["127.0.0.1"] for host in hosts}
