import Foundation
import KVStore
import KVStoreHTTP
import StoreTestSupport
import Testing

/// Those that need a daemon are in EmulatorTests.
@Suite("Snippets: addresses, credentials and texts")
struct HTTPSnippets {
    private let print = PrintedLines()

    @Test("an address has a host, and says whether a token is safe on the way")
    func address() throws {
        let address = try DaemonAddress("https://kv.example.org:8722")
        print(address.host, address.isPrivate)
        do throws(CredentialsError) {
            print(try DaemonAddress("ftp://example.org"))
        } catch {
            print(error)
        }
        #expect(print.lines[0] == "kv.example.org true")
        #expect(print.lines.count == 2 && print.lines[1].contains("ftp"))
    }

    @Test("credentials do not print their token")
    func credentials() throws {
        defer { #expect(print.lines == ["desk (d1) of a at http://127.0.0.1:8722"]) }
        guard let token = AccessToken("secret") else { return }
        let credentials = try Credentials(
            daemon: DaemonAddress("http://127.0.0.1:8722"), token: token, account: "a", deviceID: "d1",
            deviceName: "desk")
        print(credentials)
    }

    @Test("an identifier is its text in JSON")
    func document() throws {
        let json = try JSONEncoder().encode([ReplicaID(rawValue: 42)])
        print(String(decoding: json, as: UTF8.self))  // ["000000000000002a"]
        #expect(print.lines == [#"["000000000000002a"]"#])
    }
}
