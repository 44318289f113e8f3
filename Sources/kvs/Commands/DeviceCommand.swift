import ArgumentParser
import CommandSupport
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import TerminalText

struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "List, rename and remove the devices of the account.",
        discussion: """
            Renaming and removing need a device with the scope admin: one that was added with kvsd pair \
            --admin or kvsd device add NAME --admin. Where kvsd runs, kvsd device does the same.
            """,
        subcommands: [List.self, Rename.self, Remove.self])
}

extension DeviceCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the devices.")

        @Flag(help: "Print a JSON array.") var json = false
        @OptionGroup var timeout: TimeoutOption

        func run() async throws {
            let account = try JoinedAccount(
                timeout: timeout, to: "list devices", onServer: "kvsd device list")
            defer { account.close() }
            let id = try await account.deviceID()
            let devices = try await account.devices().map {
                DeviceListing($0, isThisDevice: $0.deviceID == id)
            }
            if json { return try Console.printJSON(devices, isIndented: true, dates: .exact) }
            for line in DeviceListing.table(devices, now: Date()) { try Console.print(line) }
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Rename a device.")

        @Argument(help: "Name or id of the device.") var device: String
        @Argument(help: "New name.") var newName: String
        @OptionGroup var timeout: TimeoutOption

        func run() async throws {
            let account = try JoinedAccount(
                timeout: timeout, to: "rename device \(device) to '\(newName)'",
                onServer: "kvsd device rename '\(device)' '\(newName)'")
            defer { account.close() }
            let id = try await account.device(device).deviceID
            let renamed = try await account.perform { client throws(SyncTransportError) in
                try await client.renameDevice(id: id, to: newName)
            }
            try Console.print(VisibleText.escape("renamed \(id) to \(renamed.device)"))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a device and revoke its token; its live streams end at once.")

        @Argument(help: "Name or id of the device.") var device: String
        @Flag(help: "Do not ask before removing this very device.") var yes = false
        @OptionGroup var timeout: TimeoutOption

        func run() async throws {
            let account = try JoinedAccount(
                timeout: timeout, to: "remove device \(device)",
                onServer: "kvsd device remove '\(device)'")
            defer { account.close() }
            let found = try await account.device(device)
            let isThisDevice = try await found.deviceID == account.deviceID()
            if isThisDevice, !yes, try !isConfirmed(found) {
                return try Console.print("nothing was changed")
            }
            try await account.perform { client throws(SyncTransportError) in
                try await client.removeDevice(id: found.deviceID)
            }
            try Console.print(VisibleText.escape("removed \(found.device) (\(found.deviceID))"))
            if isThisDevice {
                try Console.print("this machine no longer syncs; run kvs leave to forget its token")
            }
        }

        private func isConfirmed(_ device: DaemonDevice) throws(CommandFailure) -> Bool {
            guard Console.isInputTerminal else {
                throw CommandFailure(
                    .usage,
                    "\(device.device) is this device; nothing was changed; add --yes to remove it")
            }
            return Console.confirm(
                VisibleText.escape("\(device.device) is this device. Remove it?"))
        }
    }
}

/// A device of the account, as `device list` shows it.
private struct DeviceListing: Encodable {
    var device: String
    var deviceID: String
    var scopes: [String]
    var added: Date
    /// Nil before the first request since the daemon started.
    var lastSeen: Date?
    /// Whether it is a web page.
    var page: Bool
    /// Whether it has a live stream.
    var connected: Bool
    var thisDevice: Bool

    init(_ device: DaemonDevice, isThisDevice: Bool) {
        self.device = device.device
        deviceID = device.deviceID
        scopes = device.scopes
        added = Date(timeIntervalSince1970: Double(device.created) / 1_000)
        lastSeen = device.lastSeen.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
        page = device.page ?? false
        connected = device.connected
        thisDevice = isThisDevice
    }

    static func table(_ devices: [DeviceListing], now: Date) -> [String] {
        let titles = ["NAME", "ID", "KIND", "SCOPES", "ADDED", "LAST SEEN", ""]
        var table = TextTable(columns: titles.map { TextTable.Column($0) })
        for device in devices {
            let lastSeen = device.lastSeen.map { DurationFormatter.age(of: $0, at: now) }
            table.append([
                device.device, device.deviceID, device.page ? "page" : "program",
                device.scopes.joined(separator: "+"),
                device.added.formatted(.iso8601.year().month().day()),
                device.connected ? "connected" : lastSeen ?? "not since the start",
                device.thisDevice ? "this device" : "",
            ])
        }
        return table.lines()
    }
}
