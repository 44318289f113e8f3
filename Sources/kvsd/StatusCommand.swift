import ArgumentParser
import Commands
import Essentials
import KVStoreServer
import KVStoreWire
import LocalFiles
import TerminalText

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the running daemon: address, devices, sizes and the last error.",
        discussion: """
            Asks the daemon that uses the data directory, through a socket in it. Exits with 0 if it \
            accepts writes, with 1 if it does not, and with 69 if none is running.

              kvsd status
              kvsd status --json
            """)

    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var data: DataOption

    /// Fields are added, never renamed or removed.
    private struct Document: Encodable {
        var report: ServerReport
        var data: String
        var diskFreeByteCount: Int?

        enum CodingKeys: CodingKey {
            case data, diskFreeByteCount
        }

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(data, forKey: .data)
            try container.encodeIfPresent(diskFreeByteCount, forKey: .diskFreeByteCount)
        }
    }

    func run() async throws {
        let directory = data.directory
        guard let report = await directory.reportSocket.read() else {
            if let daemon = try directory.statusFile.read() {
                throw CommandFailure(.unavailable, "kvsd, process \(daemon.processID), does not answer")
            }
            throw CommandFailure.notRunning(
                .unavailable, in: directory, start: "ubq up, kvsd serve or kvsd service install")
        }
        let free = LocalDirectory(directory.path).freeByteCount
        if json {
            let document = Document(report: report, data: directory.path, diskFreeByteCount: free)
            try Console.printJSON(document)
        } else {
            for line in Self.lines(report, data: directory.path, free: free, now: Date()) {
                try Console.print(line)
            }
        }
        if !report.acceptsWrites { throw ExitCode(ExitStatus.failure.rawValue) }
    }

    static func lines(_ report: ServerReport, data: String, free: Int?, now: Date) -> [String] {
        func age(_ milliseconds: Int64) -> String {
            DurationFormatter.age(of: Date(timeIntervalSince1970: Double(milliseconds) / 1_000), at: now)
        }
        var table = TextTable(columns: [.init(""), .init("")])
        table.append([
            "daemon",
            "kvsd \(report.version), process \(report.processID), started \(age(report.started))",
        ])
        table.append(["address", report.url])
        table.append(["key", report.key ?? "none: connections are not encrypted"])
        table.append(["data", VisibleText.escape(data)])
        table.append(["writes", report.acceptsWrites ? "accepted" : "refused"])
        if let incident = report.incident {
            let end = incident.recovered.map { "; recovered \(age($0))" } ?? ""
            table.append([
                "last error", VisibleText.escape("\(age(incident.time)): \(incident.text)\(end)"),
            ])
        }
        if let database = report.database { table.appendRows(of: database) }
        table.append([
            report.database == nil ? "memory" : "cache",
            "\(ByteCount(report.memoryByteCount)) of \(ByteCount(report.memoryByteLimit))",
        ])
        let space = free.map { ", \(ByteCount($0)) free on the disk" } ?? ""
        if report.database == nil {
            table.append(["log", "\(ByteCount(report.logByteCount))\(space)"])
        }
        table.append(["streams", "\(report.streamCount)"])
        table.append(["connections", "\(report.connectionCount)"])
        if report.database == nil { table.append(["stores", "\(report.storeCount)"]) }
        let accounts =
            report.accounts.map { accounts in
                accounts.count > 1 || accounts.contains { $0.byteLimit != nil }
                    ? [""] + AccountCommand.table(of: accounts).lines() : []
            } ?? []
        guard !report.devices.isEmpty else {
            table.append(["devices", "none; add one with kvsd pair"])
            return table.lines() + accounts
        }
        let titles = ["DEVICE", "ACCOUNT", "ID", "LAST SEEN"]
        var devices = TextTable(columns: titles.map { TextTable.Column($0) })
        for device in report.devices {
            devices.append([
                device.name, device.account, device.id,
                device.isConnected
                    ? "connected" : device.lastSeen.map(age) ?? "not since the start",
            ])
        }
        return table.lines() + accounts + [""] + devices.lines()
    }
}

extension TextTable {
    fileprivate mutating func appendRows(of database: ServerReport.Database) {
        let busy = "\(database.busyCount) of \(database.connectionCount) connections busy"
        let commits = database.commitMilliseconds.map {
            ", a commit takes \(($0 * 100).rounded() / 100) ms"
        }
        let changes = database.isNotified ? "" : ", polled, as a pooler keeps notifications back"
        append([
            "database",
            VisibleText.escape("\(database.endpoint): \(busy)\(commits ?? "")\(changes)"),
        ])
        if let lag = database.standbyLagByteCount {
            append(["standby", lag == 0 ? "has everything" : "lacks \(ByteCount(lag))"])
        }
        for (index, node) in database.nodes.enumerated() {
            let own = node.isOwn ? ", this one" : ""
            append([
                index == 0 ? "nodes" : "",
                VisibleText.escape(
                    "\(node.name) \(node.url), kvsd \(node.version), seen \(Int(node.secondsAgo)) s ago\(own)"
                ),
            ])
        }
    }
}

/// A number of bytes as short text: "999 bytes", "1.5 MB".
struct ByteCount: CustomStringConvertible {
    let value: Int

    init(_ value: Int) { self.value = value }

    var description: String {
        var unit = 1_000
        for name in ["kB", "MB", "GB", "TB"] {
            if value < 1_000 * unit, value >= unit {
                return "\(value / unit).\(value % unit * 10 / unit) \(name)"
            }
            unit *= 1_000
        }
        return "\(value) bytes"
    }
}
