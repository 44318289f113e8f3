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
        Setting(
            name: "listen", help: "Address, and port unless it is 8722; port 0 chooses one.",
            valueName: "host:port", requirement: "HOST or HOST:PORT",
            text: { $0.listen.description },
            apply: { text, settings in
                guard let address = ListenAddress(argument: text) else { return false }
                settings.listen = address
                return true
            }),
        Setting(
            name: "database",
            help: "PostgreSQL with the stores and devices of several daemons, instead of a log.",
            valueName: "address", requirement: "postgres://HOST/DATABASE, or as libpq reads it",
            text: { $0.database.withoutPassword },
            apply: { text, settings in
                settings.database = text
                return text.utf8.count <= 4_096
            }),
        Setting(
            name: "database-connections",
            help: "Connections on which groups of requests are stored.",
            valueName: "count", requirement: "1 to 64",
            text: { "\($0.databaseConnectionCount)" },
            apply: { text, settings in
                guard let count = Int(text), (1...64).contains(count) else { return false }
                settings.databaseConnectionCount = count
                return true
            }),
        flag("tls", \.tls, "Speak TLS on loopback too."),
        file("tls-certificate", \.tlsCertificate, "Certificate and chain in PEM, instead of a self-signed one."),
        file("tls-key", \.tlsKey, "Private key of the certificate in PEM."),
        flag(
            "insecure-allow-plain-http", \.insecureAllowPlainHTTP,
            "Listen on other interfaces than loopback without TLS, exposing tokens and values."),
        Setting(
            name: "log-level", help: "Least severity of logged messages, trace to critical.",
            valueName: "level",
            requirement: Logger.Level.allCases.map(\.rawValue).joined(separator: ", "),
            text: { $0.logLevel.rawValue },
            apply: { text, settings in
                guard let level = Logger.Level(rawValue: text) else { return false }
                settings.logLevel = level
                return true
            }),
        text(
            "push-contact", \.pushContact, "url",
            "Where operators of push services reach you about notifications.",
            requirement: "a mailto: or https:// URL"
        ) { text in
            text.wholeMatch(of: /(mailto:|https:\/\/)[!-~]{1,200}/) != nil
        },
        text(
            "push-private-hosts", \.pushPrivateHosts, "hosts",
            "Push services of your own, on this machine or in a private network.",
            requirement: "host:port or host (for 443 and 80), separated by commas"
        ) { text in
            text.utf8.count <= 1_000 && text.split(separator: ",").allSatisfy { HTTPAddress.isName(String($0)) }
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
        Setting(
            name: name, help: help, valueName: "", requirement: "true or false",
            text: { "\($0[keyPath: path])" },
            apply: { text, settings in
                guard let value = Bool(text) else { return false }
                settings[keyPath: path] = value
                return true
            })
    }

    private static func file(
        _ name: String, _ path: any WritableKeyPath<ServeSettings, String> & Sendable, _ help: String
    ) -> Setting {
        Setting(
            name: name, help: help, valueName: "file", requirement: "the path of a file",
            text: { $0[keyPath: path] },
            apply: { text, settings in
                // Absolute for kvsd pair, which runs elsewhere.
                settings[keyPath: path] = absolutePath(text)
                return !text.isEmpty
            })
    }

    private static func text(
        _ name: String, _ path: any WritableKeyPath<ServeSettings, String> & Sendable, _ valueName: String,
        _ help: String, requirement: String, isValid: @escaping @Sendable (String) -> Bool
    ) -> Setting {
        Setting(
            name: name, help: help, valueName: valueName, requirement: requirement,
            text: { $0[keyPath: path] },
            apply: { text, settings in
                settings[keyPath: path] = text
                return isValid(text)
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
