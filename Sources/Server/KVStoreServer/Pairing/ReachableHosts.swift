import Essentials
import NIOCore
import NIOPosix

/// The addresses of this machine that other machines can use.
package enum ReachableHosts {
    /// For a daemon that listens on `host`: the host itself, or for all interfaces the address that the machine uses
    /// for the internet, then those of its other interfaces.
    package static func find(listeningOn host: String) async -> [String] {
        let family: NIOBSDSocket.ProtocolFamily
        switch host {
        case "0.0.0.0": family = .inet
        case "::": family = .inet6
        default: return [host]
        }
        var hosts: [String] = []
        if let main = await mainAddress(family), isGlobal(main) { hosts.append(main.ipAddress!) }
        for device in (try? System.enumerateDevices()) ?? [] {  // then no address is offered
            guard let address = device.address, isGlobal(address), let host = address.ipAddress,
                address.protocol == .inet || family == .inet6, !hosts.contains(host)
            else { continue }
            hosts.append(host)
        }
        return hosts.isEmpty ? ["127.0.0.1"] : hosts
    }

    /// The source address of the default route. Connecting a datagram socket sends nothing; the addresses are those
    /// reserved for documentation.
    private static func mainAddress(_ family: NIOBSDSocket.ProtocolFamily) async -> SocketAddress? {
        let target = family == .inet ? "192.0.2.1" : "2001:db8::1"
        guard
            // Then no address is offered.
            let channel = try? await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: target, port: 9).get()
        else { return nil }
        defer { channel.close(promise: nil) }
        return channel.localAddress
    }

    /// Neither loopback nor link-local.
    private static func isGlobal(_ address: SocketAddress) -> Bool {
        guard let host = address.ipAddress else { return false }
        return !host.hasPrefix("127.") && host != "::1" && !host.hasPrefix("169.254.")
            && !host.lowercased().hasPrefix("fe80:")
    }
}
