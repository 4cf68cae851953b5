//! Decides which addresses are public, and not this machine, its network, or a tunnel into either.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 networks that are not public: first address and prefix length.
const NOT_V4: [([u8; 4], u32); 17] = [
    ([0, 0, 0, 0], 8),        // "this network"; 0.0.0.0 is this machine
    ([10, 0, 0, 0], 8),       // private
    ([100, 64, 0, 0], 10),    // carrier-grade NAT, and some clouds' metadata
    ([127, 0, 0, 0], 8),      // loopback
    ([168, 63, 129, 16], 32), // Azure's metadata
    ([169, 254, 0, 0], 16),   // link-local, and most clouds' metadata
    ([172, 16, 0, 0], 12),    // private
    ([192, 0, 0, 0], 24),     // protocol assignments
    ([192, 0, 2, 0], 24),     // documentation
    ([192, 31, 196, 0], 24),  // AS112
    ([192, 52, 193, 0], 24),  // AMT
    ([192, 88, 99, 0], 24),   // 6to4 relays
    ([192, 168, 0, 0], 16),   // private
    ([198, 18, 0, 0], 15),    // benchmarks
    ([198, 51, 100, 0], 24),  // documentation
    ([203, 0, 113, 0], 24),   // documentation
    ([224, 0, 0, 0], 3),      // multicast, reserved, broadcast
];

/// Networks within 2000::/3 that are not public or lead to an IPv4 address.
const NOT_V6: [([u16; 3], u32); 5] = [
    ([0x2001, 0x0000, 0], 23),      // protocol assignments, Teredo, ORCHID
    ([0x2001, 0x0db8, 0], 32),      // documentation
    ([0x2002, 0x0000, 0], 16),      // 6to4
    ([0x2620, 0x004f, 0x8000], 48), // AS112
    ([0x3fff, 0x0000, 0], 20),      // documentation
];

/// Whether an address is public. For IPv6 that is 2000::/3, the only range assigned so far, which excludes mapped,
/// NAT64, link-local, unique local and multicast addresses.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !NOT_V4.iter().any(|(from, length)| {
            same_prefix(address.to_bits().into(), Ipv4Addr::from(*from).to_bits().into(), *length, 32)
        }),
        IpAddr::V6(address) => {
            let within = |[a, b, c]: [u16; 3], length| {
                let network = Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0);
                same_prefix(address.to_bits(), network.to_bits(), length, 128)
            };
            within([0x2000, 0, 0], 3) && !NOT_V6.iter().any(|(from, length)| within(*from, *length))
        }
    }
}

fn same_prefix(one: u128, other: u128, length: u32, bits: u32) -> bool {
    (one ^ other) >> (bits - length) == 0
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn internal_networks_are_not_public() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:7f00:1::",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "2620:4f:8000::1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "ff0e::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn neighbours_of_internal_networks_are_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.114.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2001:db7::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700::1111",
            "2620:4f:8001::1",
            "2a00::1",
            "3fff:1000::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
