import Essentials
import KVStoreEssentials
import KVStoreLedger
import KVStoreWire
import NIOCore

/// The state of a running server, for `kvsd status`. As JSON: fields are added, never renamed or removed.
package struct ServerReport: Sendable, Equatable, Codable {
    package struct DeviceState: Sendable, Equatable, Codable {
        package var id: String
        package var name: String
        package var account: String
        /// Milliseconds since 1970; nil if the device has not been seen since the start.
        package var lastSeen: Int64?
        /// Whether it has a live stream.
        package var isConnected: Bool
    }

    /// Why writes were refused.
    package struct Incident: Sendable, Equatable, Codable {
        package var text: String
        /// Milliseconds since 1970.
        package var time: Int64
        /// When writes were accepted again; nil if they are not.
        package var recovered: Int64?
    }

    /// What several servers share instead of a log.
    package struct Database: Sendable, Equatable, Codable {
        package struct Node: Sendable, Equatable, Codable {
            package var name: String
            /// Where it listens.
            package var url: String
            package var version: String
            /// Whether it is the one that reports.
            package var isOwn: Bool
            /// Since it was last seen; at most 30.
            package var secondsAgo: Double

            package init(name: String, url: String, version: String, isOwn: Bool, secondsAgo: Double) {
                self.name = name
                self.url = url
                self.version = version
                self.isOwn = isOwn
                self.secondsAgo = secondsAgo
            }
        }

        /// Host, port and name.
        package var endpoint: String
        package var nodes: [Node] = []
        /// For groups of requests.
        package var connectionCount: Int
        package var busyCount: Int
        /// Whether changes of other nodes are notified; otherwise they are polled.
        package var isNotified: Bool
        /// Stores that another node had changed, and that were planned again.
        package var conflictCount: Int
        /// Groups that were sent again, as a whole or in part; nil from an earlier version.
        package var repetitionCount: Int?
        /// The mean since the start; nil before the first.
        package var commitMilliseconds: Double?
        /// Bytes of the stores that this node keeps in memory; nil from an earlier version.
        package var cacheByteCount: Int?
        /// What the slowest standby lacks; nil without one, or without the permission to know.
        package var standbyLagByteCount: Int?

        package init(endpoint: String, connectionCount: Int, busyCount: Int, isNotified: Bool, conflictCount: Int) {
            self.endpoint = endpoint
            self.connectionCount = connectionCount
            self.busyCount = busyCount
            self.isNotified = isNotified
            self.conflictCount = conflictCount
        }
    }

    package var schemaVersion = 1
    package var version = ProgramVersion.text
    package var processID: Int32
    package var url: String
    /// The fingerprint of the certificate's key; nil without TLS.
    package var key: String?
    /// Milliseconds since 1970.
    package var started: Int64
    package var devices: [DeviceState]
    /// Nil from an earlier version.
    package var accounts: [AccountUsage]?
    package var streamCount: Int
    package var connectionCount: Int
    package var storeCount: Int
    /// What all records take, or those that are cached of a database.
    package var memoryByteCount: Int
    package var memoryByteLimit: Int
    /// 0 without a log.
    package var logByteCount: Int
    /// Nil with a log.
    package var database: Database?
    /// The last one since the start.
    package var incident: Incident?

    package var acceptsWrites: Bool { incident.map { $0.recovered != nil } ?? true }
}

extension StoreServer {
    /// Calls `complete` on an event loop.
    func report(port: Int, started: Int64, _ complete: @escaping @Sendable (ServerReport) -> Void) {
        let watchers = engine.loops[0]
        watchers.loop.execute { [self] in
            if engine.database != nil {
                // A database that is away would keep the report, which says so, waiting.
                do throws(Problem) { try engine.checkReadiness() } catch {
                    return complete(report(port: port, started: started, [:]))
                }
            }
            engine.accountTotals(on: watchers) { [self] totals in
                // The rest of the report is shown without them.
                complete(report(port: port, started: started, (try? totals.get()) ?? [:]))
            }
        }
    }

    private func report(port: Int, started: Int64, _ totals: [String: AccountTotals]) -> ServerReport {
        let counters = metrics.counters
        let table = devices.table
        let (log, database) = (engine.logState, engine.database)
        return ServerReport(
            processID: getpid(),
            url: ListenAddress(host: configuration.address.host, port: port).url(isEncrypted: isEncrypted),
            key: certificate?.keyFingerprint?.description, started: started,
            devices: table.devices.map { device in
                let presence = devices.presence(of: device.id)
                return ServerReport.DeviceState(
                    id: device.id, name: device.name, account: device.account,
                    lastSeen: presence.lastSeen, isConnected: presence.isConnected)
            },
            accounts: table.usage(totals), streamCount: streamCount,
            connectionCount: counters.connections,
            storeCount: log?.storeCount ?? 0,
            memoryByteCount: log?.memoryByteCount ?? database?.cacheByteCount ?? 0,
            memoryByteLimit: limits.memoryByteCount,
            logByteCount: log?.fileByteCount ?? 0, database: database,
            incident: counters.incident)
    }
}
