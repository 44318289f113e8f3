import Foundation
import KVStoreCore
import KVStoreSimulation
import StoreTestSupport
import Testing

@testable import KVStoreEssentials

/// Exit tests, which capture the standard error of a child process.
@Suite("Messages on standard error", .timeLimit(.minutes(5)))
struct DiagnosticsTests {
    private func lines(_ result: ExitTest.Result?) -> [Substring] {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
    }

    @Test("an empty key is reported and ignored, and one that is too long stops the program")
    func invalidKey() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let store = try UbiquitousKeyValueStore(
                configuration: StoreConfiguration(directory: "unused"),
                runtime: .over { _ in SimulatedDisk().storage() })
            store.set("1", forKey: "")
            store.set("1", forKey: String(repeating: "k", count: 129))
            exit(EXIT_SUCCESS)
        }
        #expect(lines(result).contains("UbiquitousKeyValueStore: set key '': the key is empty (use a non-empty key)"))
        #expect(lines(result).contains { $0.contains("the key has 129 UTF-16 units") })
    }

    @Test("a default store that cannot be opened stops the program with the reason")
    func defaultStore() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            UbiquitousKeyValueStore.setDefaultConfiguration(
                StoreConfiguration(directory: "/dev/null", storeName: ".invalid"))
            UbiquitousKeyValueStore.default.synchronize()
        }
        #expect(lines(result).contains { $0.hasPrefix("UbiquitousKeyValueStore: open store .invalid: ") })
    }

    @Test("an object that is not a property list is reported, and the program continues")
    func invalidValue() async {
        let result = await #expect(
            processExitsWith: .exitCode(EXIT_SUCCESS), observing: [\.standardErrorContent]
        ) {
            let store = try UbiquitousKeyValueStore(
                configuration: StoreConfiguration(directory: "unused"),
                runtime: .over { _ in SimulatedDisk().storage() })
            store.set(URL(filePath: "/") as Any?, forKey: "a")
            exit(EXIT_SUCCESS)
        }
        #expect(
            lines(result).contains {
                $0.hasPrefix("UbiquitousKeyValueStore: set key a: URL is not a property list type")
            })
    }

    @Test("a message that cannot be written is dropped, and the program continues")
    func closedStandardError() async {
        await #expect(processExitsWith: .exitCode(EXIT_SUCCESS)) {
            close(STDERR_FILENO)
            Diagnostics.write("unread")
            exit(EXIT_SUCCESS)
        }
    }
}
