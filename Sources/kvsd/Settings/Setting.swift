import Commands
import Essentials
import KVStoreEssentials
import KVStoreServer
import Logging
import OutgoingHTTP

/// What a setting of the daemon changes.
struct ServeSettings {
    var listen = ListenAddress.standard
    var tls = false
    var tlsCertificate = ""
    var tlsKey = ""
    var insecureAllowPlainHTTP = false
    var logLevel = Logger.Level.info
    /// For push services.
    var pushContact = "mailto:nobody@example.com"
    /// Those of push services, separated by commas.
    var pushPrivateHosts = ""
    var limits = ServerLimits()
    /// The address of PostgreSQL, as libpq reads it; empty for a log of its own.
    var database = ""
    var databaseConnectionCount = 2
}

/// A setting of the daemon: `--NAME` or `--set NAME=VALUE`, `KVSD_NAME` in the environment, "NAME" in the file.
struct Setting: Sendable {
    let name: String
    let help: String
    let valueName: String
    /// What a value must be, after "must be".
    let requirement: String
    /// Text as `apply` accepts it.
    let text: @Sendable (ServeSettings) -> String
    /// Returns whether the text is valid.
    let apply: @Sendable (String, inout ServeSettings) -> Bool

    var variable: String { "KVSD_" + name.uppercased().replacing("-", with: "_") }
    var standard: String { text(ServeSettings()) }

    static func named(_ name: String) -> Setting? { all.first { $0.name == name } }
}

extension Setting {
    /// Every setting. Options, environment, file, `kvsd config` and docs/operations.md follow this table.
    static let all: [Setting] = [
        value(
            "listen", \.listen, "host:port", "Address, and port unless it is 8722; port 0 chooses one.",
            requirement: "HOST or HOST:PORT"
        ) { ListenAddress(argument: $0) },
        value(
            "database", \.database, "address",
            "PostgreSQL with the stores and devices of several daemons, instead of a log.",
            requirement: "postgres://HOST/DATABASE, or as libpq reads it", text: \.withoutPassword
        ) { $0.utf8.count <= 4_096 ? $0 : nil },
        value(
            "database-connections", \.databaseConnectionCount, "count",
            "Connections on which groups of requests are stored.", requirement: "1 to 64"
        ) { Int($0).flatMap { (1...64).contains($0) ? $0 : nil } },
        flag("tls", \.tls, "Speak TLS on loopback too."),
        file("tls-certificate", \.tlsCertificate, "Certificate and chain in PEM, instead of a self-signed one."),
        file("tls-key", \.tlsKey, "Private key of the certificate in PEM."),
        flag(
            "insecure-allow-plain-http", \.insecureAllowPlainHTTP,
            "Listen on other interfaces than loopback without TLS, exposing tokens and values."),
        value(
            "log-level", \.logLevel, "level", "Least severity of logged messages, trace to critical.",
            requirement: Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        ) { Logger.Level(rawValue: $0) },
        value(
            "push-contact", \.pushContact, "url", "Where operators of push services reach you about notifications.",
            requirement: "a mailto: or https:// URL"
        ) { $0.wholeMatch(of: /(mailto:|https:\/\/)[!-~]{1,200}/) == nil ? nil : $0 },
        value(
            "push-private-hosts", \.pushPrivateHosts, "hosts",
            "Push services of your own, on this machine or in a private network.",
            requirement: "host:port or host (for 443 and 80), separated by commas"
        ) { text in
            let areNames = text.split(separator: ",").allSatisfy { HTTPAddress.isName(String($0)) }
            return areNames && text.utf8.count <= 1_000 ? text : nil
        },
        limit(
            "memory-limit", \.memoryByteCount, 65_536...(1 << 40), "bytes",
            "Limit on the memory of all keys and values."),
        limit("requests-per-second", \.requestsPerSecond, 1...1_000_000, "count", "Limit on the requests of a device."),
        limit(
            "request-burst", \.requestBurst, 1...10_000_000, "count",
            "Requests of a device at once; unless set, four times requests-per-second."),
        limit("streams-per-device", \.streamsPerDevice, 1...65_536, "count", "Limit on the live streams of a device."),
        limit(
            "connections", \.connectionCount, 1...1_000_000, "count",
            "Limit on connections, lowered to what the limit on open files allows."),
        limit(
            "surplus-connections", \.surplusConnectionCount, 0...65_536, "count",
            "Connections beyond the limit that get an error answer."),
        limit(
            "unauthenticated-per-address", \.unauthenticatedPerAddress, 1...1_000_000, "count",
            "Connections of an address without a valid token so far; the oldest makes way."),
        limit(
            "failed-authentications-per-minute", \.failedAuthenticationsPerMinute, 1...1_000_000,
            "count", "Limit on the failed authentications of an address."),
        limit(
            "body-bytes", \.bodyByteCount, WireLimits.requestByteCount...(1 << 28), "bytes",
            "Limit on a request body; replicas need the least."),
        limit(
            "pending-body-bytes", \.pendingBodyByteCount, 4_096...(1 << 36), "bytes",
            "Limit on all request bodies in memory."),
        limit("json-depth", \.jsonDepth, 4...512, "count", "Limit on the nesting of a JSON body."),
        limit(
            "first-request-milliseconds", \.firstByteMilliseconds, 1...600_000, "ms",
            "Time until the first request of a connection."),
        limit(
            "idle-milliseconds", \.idleMilliseconds, 1...86_400_000, "ms",
            "Time between two requests of a connection."),
        limit(
            "request-milliseconds", \.requestMilliseconds, 1...3_600_000, "ms",
            "Time from the head of a request to its answer."),
        limit(
            "drain-milliseconds", \.drainMilliseconds, 1...600_000, "ms",
            "Time for the rest of a body after an early answer."),
        limit(
            "heartbeat-milliseconds", \.heartbeatMilliseconds, 1...3_600_000, "ms",
            "Time between the comments that keep an idle stream alive."),
        limit(
            "slow-reader-milliseconds", \.slowReaderMilliseconds, 1...3_600_000, "ms",
            "Time after which a reader that reads nothing is disconnected."),
        limit("segment-bytes", \.segmentByteCount, 4_096...(1 << 30), "bytes", "Size of a segment of the log."),
    ]

    private static func flag(
        _ name: String, _ path: any WritableKeyPath<ServeSettings, Bool> & Sendable, _ help: String
    ) -> Setting {
        value(name, path, "", help, requirement: "true or false") { Bool($0) }
    }

    /// Absolute for kvsd pair, which runs elsewhere.
    private static func file(
        _ name: String, _ path: any WritableKeyPath<ServeSettings, String> & Sendable, _ help: String
    ) -> Setting {
        value(name, path, "file", help, requirement: "the path of a file") { $0.isEmpty ? nil : absolutePath($0) }
    }

    /// - Parameter parse: nil for text that is not valid.
    private static func value<Value>(
        _ name: String, _ path: any WritableKeyPath<ServeSettings, Value> & Sendable, _ valueName: String,
        _ help: String, requirement: String, text: @escaping @Sendable (Value) -> String = { "\($0)" },
        _ parse: @escaping @Sendable (String) -> Value?
    ) -> Setting {
        Setting(
            name: name, help: help, valueName: valueName, requirement: requirement,
            text: { text($0[keyPath: path]) },
            apply: { text, settings in
                guard let value = parse(text) else { return false }
                settings[keyPath: path] = value
                return true
            })
    }

    private static func limit<Value: LimitValue>(
        _ name: String, _ path: any WritableKeyPath<ServerLimits, Value> & Sendable,
        _ range: ClosedRange<Int>, _ unit: String, _ help: String
    ) -> Setting {
        Setting(
            name: name, help: help, valueName: unit,
            requirement: "from \(range.lowerBound) to \(range.upperBound)",
            text: { "\($0.limits[keyPath: path].count)" },
            apply: { text, settings in
                guard let value = Int(text), range.contains(value) else { return false }
                settings.limits[keyPath: path] = Value(value)
                return true
            })
    }
}

private protocol LimitValue: Sendable {
    init(_ count: Int)
    var count: Int { get }
}

extension Int: LimitValue { fileprivate var count: Int { self } }
extension Int64: LimitValue { fileprivate var count: Int { Int(self) } }
extension Double: LimitValue { fileprivate var count: Int { Int(self) } }

extension String {
    /// An address of PostgreSQL that may be shown.
    var withoutPassword: String {
        // A '/' or '@' in it should be percent-encoded, and is often not.
        replacing(/:\/\/([^\/@:]*):(?:[^?]*|[^\/@]*)@/) { "://\($0.1):***@" }
            .replacing(/(?i)(password\s*=\s*)('[^']*'|[^\s&]+)/) { "\($0.1)***" }
    }

    /// For an argument with an address.
    func warnOfPassword() {
        guard self != withoutPassword else { return }
        Console.report(
            """
            warning: every user of this machine sees the password in the list of processes; put it into \
            ~/.pgpass, PGPASSWORD or a service file of libpq, or the address into config.json
            """)
    }
}
