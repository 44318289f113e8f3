import ArgumentParser
import Foundation
import KVStoreServer

struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Add, list, rename and remove devices.",
        discussion: """
            A device is known by a token that is shown once, when it is added. A running daemon
            notices every change by itself; a device that is removed loses its live streams too.
            """,
        subcommands: [Add.self, List.self, Rename.self, Remove.self])
}

extension DeviceCommand {
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a device and print its token, once.",
            discussion: """
                Examples:

                  kvsd device add laptop
                  kvsd device add wall-display --read-only --store usage
                """)

        @Argument(help: "What to call it.") var name: String
        @Option(help: "The account whose stores it sees.") var account = "default"
        @Flag(help: "It may read only.") var readOnly = false
        @Option(help: "It sees only this store; may be given several times.")
        var store: [String] = []
        @Option(help: ArgumentHelp("Address to print, where it is another.", valueName: "url"))
        var url = ListenAddress.standard.url
        @OptionGroup var data: DataOption

        func run() throws {
            let added: (device: Device, token: String)
            do throws(DataDirectoryError) { try data.directory.create() } catch {
                throw Failure.exit(error)
            }
            do throws(DeviceFileError) {
                added = try data.directory.deviceFile.add(
                    name, account: account, isReadOnly: readOnly,
                    stores: store.isEmpty ? nil : store)
            } catch {
                throw Failure.exit(error)
            }
            print(
                """
                Added \(name) (\(added.device.id)) to the account \(account).
                Run this on \(name); the token is not shown again:

                  kvs join \(url) --token \(added.token)

                Or without the token in the shell's history:

                  printf '%s\\n' '\(added.token)' | kvs join \(url) --token-stdin
                """)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the devices.")

        @Option(help: "Only those of this account.") var account: String?
        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var data: DataOption

        func run() throws {
            let devices: [Device]
            do throws(DeviceFileError) {
                devices = try data.directory.deviceFile.devices()
            } catch {
                throw Failure.exit(error)
            }
            let shown = devices.filter { account == nil || $0.account == account }
            if json {
                print(DeviceText.json(shown))
            } else if shown.isEmpty {
                print("No devices. Add one: kvsd device add NAME")
            } else {
                for line in DeviceText.lines(shown) { print(line) }
            }
        }
    }

    struct Rename: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Give a device another name.")

        @Argument(help: "Its name or id.") var device: String
        @Argument(help: "What to call it from now on.") var newName: String
        @Option(help: "The account of the device.") var account: String?
        @OptionGroup var data: DataOption

        func run() throws {
            do throws(DeviceFileError) {
                let renamed = try data.directory.deviceFile.change { table throws(DeviceError) in
                    try table.rename(device, account: account, to: newName)
                }
                print("\(renamed.id) is called \(renamed.name) now.")
            } catch {
                throw Failure.exit(error)
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a device: its token is worth nothing from then on.")

        @Argument(help: "Its name or id.") var device: String
        @Option(help: "The account of the device.") var account: String?
        @OptionGroup var data: DataOption

        func run() throws {
            do throws(DeviceFileError) {
                let removed = try data.directory.deviceFile.change { table throws(DeviceError) in
                    try table.remove(device, account: account)
                }
                print("Removed \(removed.name) (\(removed.id)).")
            } catch {
                throw Failure.exit(error)
            }
        }
    }
}
