import ArgumentParser
import Commands
import Essentials
import KVStoreServer
import KVStoreWire
import TerminalText

struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Add, list, rename, trust and remove devices.",
        discussion: """
            A device authenticates with a token that is shown once, when the device is added. A \
            running daemon applies every change at once; removing a device also ends its live streams.
            """,
        subcommands: [Add.self, List.self, Rename.self, Trust.self, Remove.self])
}

extension DeviceCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a device and print its token, once.",
            discussion: """
                Examples:

                  kvsd device add laptop
                  kvsd device add wall-display --read-only --store usage
                  kvsd device add phone --account family
                  kvsd device add script --trusted --json | jq -r .token
                """)

        private struct Added: Encodable {
            var device: String
            var id: String
            var token: String
            /// Nil if no daemon runs and none was given.
            var url: String?
            /// The fingerprint of the daemon's key, where it has TLS.
            var key: String?
        }

        @Argument(help: "Name of the device.") var name: String
        @OptionGroup var options: PermissionOptions
        @Flag(help: "Print a JSON object.") var json = false
        @Option(
            help: ArgumentHelp("Address to print, by default one of the running daemon.", valueName: "url"))
        var url: String?
        @OptionGroup var storage: StorageOption

        func run() async throws {
            let daemon = try storage.directory.statusFile.read()
            let url = try await storage.urls(of: daemon, given: url).first
            let key = try storage.key(of: daemon)?.description
            let (device, token) = try storage.devices(isCreating: true).add(name, options.permissions)
            if json {
                let added = Added(device: device.name, id: device.id, token: token, url: url, key: key)
                return try Console.printJSON(added)
            }
            try Console.print("Added \(name) (\(device.id)) to the account \(device.account).")
            if let key {
                try Console.print(
                    """
                    The key of the daemon is \(key). Unless \(name) trusts its certificate, join with
                    the line of kvsd pair instead, or set UBIQUITY_DAEMON, UBIQUITY_TOKEN and UBIQUITY_KEY there.
                    """)
            }
            try Console.print(
                """
                On \(name), run this command, which asks for the token; it is not shown again:

                  kvs join \(url ?? "URL      (the daemon's, which does not run now)")

                \(token)
                """)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the devices.")

        @Option(help: "List only devices of this account.") var account: String?
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var storage: StorageOption

        private struct Line: Encodable {
            var id: String
            var name: String
            var account: String
            var scopes: [DeviceScope]
            var stores: [String]?
            var trusted: Bool
            var page: Bool
            var created: Int64
        }

        func run() throws {
            let devices = try storage.devices().table(.all).devices.filter { account == nil || $0.account == account }
            if json {
                let lines = devices.map {
                    Line(
                        id: $0.id, name: $0.name, account: $0.account, scopes: $0.scopes, stores: $0.stores,
                        trusted: $0.isTrusted, page: $0.isPage, created: $0.created)
                }
                try Console.printJSON(lines)
            } else if devices.isEmpty {
                try Console.print("No devices. Add one: kvsd device add NAME")
            } else {
                for line in table(of: devices).lines() { try Console.print(line) }
            }
        }

        private func table(of devices: [Device]) -> TextTable {
            let titles = ["ID", "NAME", "KIND", "ACCOUNT", "SCOPES", "STORES", "TRUSTED", "ADDED"]
            var table = TextTable(columns: titles.map { TextTable.Column($0) })
            for device in devices {
                let created = Date(timeIntervalSince1970: Double(device.created) / 1_000)
                table.append([
                    device.id, device.name, device.isPage ? "page" : "program", device.account,
                    device.scopes.map(\.rawValue).joined(separator: "+"),
                    device.stores?.joined(separator: ",") ?? "all",
                    device.isTrusted ? "yes" : "no",
                    created.formatted(.iso8601.year().month().day()),
                ])
            }
            return table
        }
    }

    struct Rename: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "rename", abstract: "Rename a device.")

        @Argument(help: "Name or id of the device.") var device: String
        @Argument(help: "New name.") var newName: String
        @Option(help: "Account of the device.") var account: String?
        @OptionGroup var storage: StorageOption

        func run() throws {
            let renamed = try storage.devices().change(
                DeviceSelection(device, account: account)
            ) { table throws(ServerError) in
                try table.rename(device, account: account, to: newName)
            }
            try Console.print("Renamed \(renamed.id) to \(renamed.name).")
        }
    }

    struct Trust: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trust",
            abstract: "Lift the limits on a device's requests per second and live streams.",
            discussion: "The limits on connections and memory remain.")

        @Argument(help: "Name or id of the device.") var device: String
        @Flag(help: "Impose the limits again; open streams stay.") var off = false
        @Option(help: "Account of the device.") var account: String?
        @OptionGroup var storage: StorageOption

        func run() throws {
            let changed = try storage.devices().change(
                DeviceSelection(device, account: account)
            ) { table throws(ServerError) in
                try table.setTrust(device, account: account, !off)
            }
            try Console.print("\(changed.name) (\(changed.id)) is \(off ? "no longer" : "now") trusted.")
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a device and revoke its token.")

        @Argument(help: "Name or id of the device.") var device: String
        @Option(help: "Account of the device.") var account: String?
        @OptionGroup var storage: StorageOption

        func run() throws {
            let removed = try storage.devices().change(
                DeviceSelection(device, account: account)
            ) { table throws(ServerError) in
                try table.remove(device, account: account)
            }
            try Console.print("Removed \(removed.name) (\(removed.id)).")
        }
    }
}
