import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import SnapshotModels
import TerminalText
import UsageState

struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "List, rename, remove and forget the devices of the account.",
        discussion: """
            Renaming and removing need a device with the scope admin: one that was added with kvsd pair \
            --admin or kvsd device add NAME --admin. Where kvsd runs, kvsd device does the same.
            """,
        subcommands: [List.self, Rename.self, Remove.self, Forget.self])
}

extension DeviceCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the devices.",
            discussion: """
                While the daemon is reachable, a device is online if it holds a connection, "connected, not \
                reporting" if it has pushed usage but not for 5 minutes, or else offline. Otherwise the list \
                is the one that the daemon gave last, and only pushes that this machine has received count: \
                active within 5 minutes, stale after them, unknown without any.
                """)

        @Flag(help: "Print a JSON array.") var json = false
        @Flag(help: "Fail unless the daemon answers.") var fresh = false
        @OptionGroup var timeout: TimeoutOption

        func run() async throws {
            let account = try JoinedAccount(timeout: timeout, to: "list devices", onServer: "kvsd device list")
            defer { account.close() }
            let (answer, isCurrent) = try await account.devices(isFresh: fresh)
            let id = isCurrent ? try await account.deviceID() : account.credentials.daemonDeviceID
            let devices = DeviceListing.all(
                answer, isCurrent: isCurrent, shownBy: id, pushing: await pushing(isCurrent: isCurrent), now: Date())
            if json { return try Console.printJSON(devices, isIndented: true, dates: .exact) }
            for line in DeviceListing.table(devices, now: Date()) { try Console.print(line) }
        }

        /// The devices that push usage, if this machine has the store that they push to and it is as new as the answer.
        private func pushing(isCurrent: Bool) async -> [DeviceState] {
            let name = StoreConfiguration.defaultStoreName
            let environment = StoreEnvironment()
            guard let credentials = try? environment.credentials(),  // The list is shown without pushes.
                FileManager.default.fileExists(
                    atPath: environment.replicaDirectory(storeNamed: name, credentials: credentials)),
                let opened = try? OpenedStore(name: name, isLocalOnly: !isCurrent, timeoutSeconds: timeout.seconds)
            else { return [] }
            defer { opened.store.close() }
            if isCurrent, (try? await opened.synchronize()) == nil { return [] }  // As above.
            let values = opened.store.data { $0.hasPrefix(SyncedUsageSnapshot.storeKey) }
            let now = Date()
            let link: UsageData.Link = isCurrent ? .online : .offline(lastSeen: nil)
            return UsageData(link: link, values: values, now: now).devices(at: now)
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "rename", abstract: "Rename a device.")

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
            // What this machine shows while the daemon is unreachable, and calls itself.
            _ = try? await account.devices()  // The next list asks again.
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a device and revoke its token; its live streams end at once.",
            discussion: """
                Its limits and costs leave all screens. What it has recorded stays in the history, until it is \
                forgotten: kvs device forget DEVICE.
                """)

        @Argument(help: "Name or id of the device.") var device: String
        @Flag(help: "Do not ask before removing this very device.") var yes = false
        @OptionGroup var timeout: TimeoutOption

        func run() async throws {
            let account = try JoinedAccount(
                timeout: timeout, to: "remove device \(device)", onServer: "kvsd device remove '\(device)'")
            defer { account.close() }
            let found = try await account.device(device)
            let isThisDevice = try await found.deviceID == account.deviceID()
            if isThisDevice, !yes, try !isConfirmed(found) { return try Console.print("nothing was changed") }
            try await account.perform { client throws(SyncTransportError) in
                try await client.removeDevice(id: found.deviceID)
            }
            try Console.print(VisibleText.escape("removed \(found.device) (\(found.deviceID))"))
            if !isThisDevice {
                _ = try? await account.devices()  // The next list asks again.
                Console.note(
                    "its usage leaves all screens; to delete its history too, run kvs device forget \(found.deviceID)")
            } else {
                try Console.print("this machine no longer syncs; run kvs leave to forget its token")
            }
        }

        private func isConfirmed(_ device: DaemonDevice) throws(CommandFailure) -> Bool {
            guard Console.isInputTerminal else {
                throw CommandFailure(
                    .usage,
                    "\(device.device) is this device; nothing was changed; add --yes to remove it")
            }
            return Console.confirm(VisibleText.escape("\(device.device) is this device. Remove it?"))
        }
    }
}
