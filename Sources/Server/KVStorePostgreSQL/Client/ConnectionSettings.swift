import Essentials

/// What libpq is given besides the address, decided from what it reads in the address, service file and environment.
struct ConnectionSettings {
    struct Host: Equatable {
        var name: String?
        /// Overrides the resolution of the name.
        var address: String?
        var port: String?
    }

    /// What depends on the machine.
    struct Machine {
        var libraryVersion: Int
        /// Whether there is `~/.postgresql/root.crt`, which libpq uses by itself.
        var hasUserRootCertificate: Bool
        /// The certificates of public authorities.
        var systemCertificates: String?
    }

    /// The options that libpq would use, by its names.
    let options: [String: String]
    /// Options that the address or the environment sets, even if to a default.
    let chosen: Set<String>
    let machine: Machine

    /// Throws if hosts, addresses and ports do not match.
    func hosts() throws(PostgreSQLError) -> [Host] {
        let names = list("host")
        let addresses = list("hostaddr")
        let ports = list("port")
        let count = max(names.count, addresses.count, 1)
        guard [0, count].contains(names.count), [0, count].contains(addresses.count),
            [0, 1, count].contains(ports.count)
        else {
            throw PostgreSQLError(.invalidAddress, "the address has another number of ports or addresses than hosts")
        }
        return (0..<count).map { index in
            Host(
                name: names.isEmpty ? nil : names[index], address: addresses.isEmpty ? nil : addresses[index],
                port: ports.count == 1 ? ports[0] : ports.isEmpty ? nil : ports[index])
        }
    }

    /// For messages.
    func endpoint(of host: Host) -> String {
        let database = options["dbname"] ?? options["user"] ?? ""
        let place = [host.name ?? host.address, host.port].compactMap(\.self)
        return "PostgreSQL \(place.joined(separator: ":"))/\(database)"
    }

    /// Whether a `/` ended the password of a URI early, so that libpq takes parts of it for host, port and database.
    static func splitsPassword(_ address: String) -> Bool {
        let scheme = address.prefixMatch(of: #/postgres(ql)?:///#)?.range.upperBound
        guard let scheme else { return false }
        return address[scheme...].prefix { $0 != "?" }.drop { $0 != "/" }.contains("@")
    }

    private func list(_ option: String) -> [String] {
        guard let value = options[option], !value.isEmpty else { return [] }
        return value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// What is passed for one of the hosts; overrides the address.
    func overrides(for host: Host, applicationName: String) -> [String: String] {
        var result = ["fallback_application_name": applicationName, "client_encoding": "UTF8"]
        result["host"] = host.name
        result["hostaddr"] = host.address
        result["port"] = host.port
        // Half-open connections are noticed in seconds instead of hours.
        let limits = [
            "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3",
            "tcp_user_timeout": "10000",
        ]
        for (name, value) in limits where options[name] == nil { result[name] = value }
        if isDefault("target_session_attrs", "any") {
            result["target_session_attrs"] = "read-write"
        }
        if isDefault("sslmode", "prefer"), !isLocal(host) { result["sslmode"] = "verify-full" }
        if (result["sslmode"] ?? options["sslmode"]) == "verify-full" {
            result["sslrootcert"] = rootCertificates
        }
        return result
    }

    private func isDefault(_ option: String, _ value: String) -> Bool {
        !chosen.contains(option) && (options[option] ?? value) == value
    }

    /// Nil to leave them to libpq.
    private var rootCertificates: String? {
        if options["sslrootcert"] != nil || machine.hasUserRootCertificate { return nil }
        return machine.libraryVersion >= 160_000 ? "system" : machine.systemCertificates
    }

    /// Whether nothing leaves this machine.
    private func isLocal(_ host: Host) -> Bool {
        if let address = host.address { return Self.isLoopback(address) }
        // None is a socket in libpq's own directory.
        guard let name = host.name else { return true }
        return name.hasPrefix("/") || name.hasPrefix("@") || name == "localhost" || Self.isLoopback(name)
    }

    private static func isLoopback(_ address: String) -> Bool {
        var version4 = in_addr()
        if inet_pton(AF_INET, address, &version4) == 1 {
            return UInt32(bigEndian: version4.s_addr) >> 24 == 127
        }
        var version6 = in6_addr()
        guard inet_pton(AF_INET6, address, &version6) == 1 else { return false }
        return withUnsafeBytes(of: version6) { $0.dropLast().allSatisfy { $0 == 0 } && $0[15] == 1 }
    }
}

/// Removes passwords from messages.
struct Redaction: Sendable {
    let secrets: [String]

    init(_ options: [String: String]) {
        secrets = ["password", "sslpassword"].compactMap { options[$0] }.filter { !$0.isEmpty }
    }

    func redact(_ text: String) -> String {
        secrets.reduce(text) { $0.replacing($1, with: "***") }
    }
}
