import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import TerminalText
import UsageState

extension DeviceCommand {
    struct Forget: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget",
            abstract: "Delete the usage and the history of a removed device.",
            discussion: """
                Deletes what the device has pushed into the store, for all machines: its last limits and costs, what it has \
                recorded, and what it has said about alerts. Values of other programs stay.
                """)

        @Argument(help: "Name or id of the device.") var device: String

        @Flag(help: "Fail with 75 unless the daemon has accepted the deletion.")
        var requireSync = false

        @OptionGroup var options: StoreOptions

        func run() async throws {
            let listed = try await listed()
            let opened = try options.open()
            defer { opened.store.close() }
            await opened.prepareWrite()
            // What other devices have written since would otherwise stay.
            if opened.isOnline { try await opened.refresh(isRequired: true) }
            var values: [String: Data] = [:]
            for key in opened.store.keys where ForgottenDevice.isKey(key) {
                values[key] = opened.store.data(forKey: key) ?? Data()
            }
            let found = try removed(in: values, listed)
            for (key, value) in try found.changes(in: values, now: Date()) {
                try opened.store.write(value.map { .data($0) }, forKey: key)
            }
            let printing = Result { () throws(OutputError) in
                try Console.print(VisibleText.escape("forgot \(found.title)"))
            }
            try await opened.finishWrite(isSyncRequired: requireSync)
            try printing.get()
        }

        /// The devices of the account; nil on a machine that has joined none. Without the daemon's answer nothing is
        /// forgotten.
        private func listed() async throws -> ListedDevices? {
            guard try StoreEnvironment().credentials() != nil else { return nil }
            let account = try JoinedAccount(
                timeout: options.timeout, to: "forget device \(device)", onServer: "kvsd device list")
            defer { account.close() }
            let answer = try await account.devices()
            return ListedDevices(answer.devices, listedAt: answer.received)
        }

        private func removed(
            in values: [String: Data], _ listed: ListedDevices?
        ) throws(CommandFailure) -> ForgottenDevice {
            let all = ForgottenDevice.all(in: values, listed: listed)
            let found = all.filter { $0.isCalled(device) }
            if found.count == 1 { return found[0] }
            func list(_ devices: [ForgottenDevice]) -> String {
                devices.prefix(10).map(\.title).joined(separator: ", ")
            }
            if found.count > 1 {
                throw CommandFailure(
                    .failure,
                    "cannot forget device \(device): several are called so: \(list(found)); use the id"
                )
            }
            throw CommandFailure(
                .failure,
                "cannot forget device \(device): no removed device with usage is called so"
                    + (all.isEmpty ? "" : "; there is " + list(all))
                    + "; to remove one of the account, run kvs device remove")
        }
    }
}
