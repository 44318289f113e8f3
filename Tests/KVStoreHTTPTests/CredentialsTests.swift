import Foundation
import KVStore
import LocalFiles
import StoreTestSupport
import Testing

@testable import KVStoreHTTP

@Suite("Credentials")
struct CredentialsTests {
    private static let secret = "kvs_5ecretT0ken"

    private func credentials(
        _ address: String = "http://127.0.0.1:8722", insecure: Bool = false
    ) throws -> Credentials {
        try Credentials(
            daemon: DaemonAddress(address), token: #require(AccessToken(Self.secret)),
            account: "acc-1", deviceID: "dev-1", deviceName: "desk", isPlainTextAllowed: insecure)
    }

    @Test("credentials are read as they were written, from a private file in a private directory")
    func roundTrip() throws {
        try TemporaryDirectory.use { directory in
            let file = CredentialsFile(path: directory + "/a/b/credentials.json")
            #expect(try file.read() == nil)
            try file.write(credentials())
            try file.write(credentials("https://kv.example.org/base"))
            #expect(try file.read() == credentials("https://kv.example.org/base"))
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let parent = try FileManager.default.attributesOfItem(atPath: directory + "/a/b")
            #expect(parent[.posixPermissions] as? Int == 0o700)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: directory + "/a/b").sorted()
                    == ["credentials.json", "credentials.json.lock"])
            try file.remove()
            try file.remove()
            #expect(try file.read() == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory + "/a/b") == [])
        }
    }

    @Test(
        "a file that other users may access is rejected with the command that repairs it",
        arguments: [0o640, 0o604, 0o620, 0o601, 0o660, 0o666, 0o644])
    func exposed(mode: Int) throws {
        try TemporaryDirectory.use { directory in
            let file = CredentialsFile(path: directory + "/credentials.json")
            try file.write(credentials())
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            #expect(
                throws: StoreError(
                    .unauthorized, operation: "read credentials", subject: file.path,
                    reason: "the file has mode \(String(mode, radix: 8)), so other users may "
                        + "access the token", hint: "run chmod 600 \(file.path)")
            ) { try file.read() }
        }
    }

    @Test("invalid files are errors that name the path and never quote the token")
    func unusable() throws {
        try TemporaryDirectory.use { directory in
            let valid = CredentialsFile(path: directory + "/valid.json")
            try valid.write(credentials())
            let whole = try String(contentsOfFile: valid.path, encoding: .utf8)
            let documents = [
                "", "{", "[]", "null", whole.replacing("\"version\":1", with: "\"version\":2"),
                whole.replacing("http://127.0.0.1:8722", with: "ftp://127.0.0.1"),
                whole.replacing("http://127.0.0.1:8722", with: "http://kv.example.org"),
                whole.replacing("\"acc-1\"", with: "\"\""),
                whole.replacing("acc-1", with: String(repeating: "a", count: 65)),
                whole.replacing("desk", with: "a\\u0007b"), whole.replacing("desk", with: "a\\u202eb"),
                whole.replacing(Self.secret, with: Self.secret + " x"), whole + String(repeating: " ", count: 70_000),
                String(repeating: "[", count: 60_000),
            ]
            for (index, document) in documents.enumerated() {
                let path = "\(directory)/\(index).json"
                try LocalFile(path).create(document)
                do throws(StoreError) {
                    _ = try CredentialsFile(path: path).read()
                    Issue.record("document \(index) was accepted")
                } catch {
                    #expect(error.subject == path)
                    #expect(!error.description.contains(Self.secret))
                }
            }
            #expect(throws: StoreError.self) { try CredentialsFile(path: directory).read() }
            let pipe = directory + "/pipe"
            try #require(mkfifo(pipe, 0o600) == 0)
            #expect(throws: StoreError.self) { try CredentialsFile(path: pipe).read() }
        }
    }

    @Test("a file that cannot be written or removed is an error with the system's reason")
    func unwritable() throws {
        try TemporaryDirectory.use { directory in
            let file = CredentialsFile(path: directory)
            for operation in ["write credentials", "remove credentials"] {
                let error = StoreError(.storage, operation: operation, subject: directory, reason: "is a directory")
                #expect(throws: error) {
                    try operation.hasPrefix("write") ? file.write(credentials()) : file.remove()
                }
            }
        }
    }

    @Test("an unencrypted address beyond this machine has to be allowed")
    func plainText() throws {
        let address = try DaemonAddress("http://10.0.0.5:8722")
        #expect(throws: CredentialsError.plainText(address)) {
            try credentials("http://10.0.0.5:8722")
        }
        try TemporaryDirectory.use { directory in
            let file = CredentialsFile(path: directory + "/credentials.json")
            let allowed = try credentials("http://10.0.0.5:8722", insecure: true)
            try file.write(allowed)
            #expect(try String(contentsOfFile: file.path, encoding: .utf8).contains("\"insecure\":true"))
            #expect(try file.read() == allowed)
        }
    }

    @Test("printing, dumping and interpolating does not show the token")
    func hidden() throws {
        let credentials = try credentials()
        var dumped = ""
        dump(credentials, to: &dumped)
        dump(credentials.token, to: &dumped)
        let texts = [
            "\(credentials)", String(reflecting: credentials), "\(credentials.token)",
            String(reflecting: credentials.token), "\([credentials])", dumped, "\(Optional(credentials.token) as Any)",
        ]
        for text in texts { #expect(!text.contains(Self.secret)) }
        #expect(AccessToken("") == nil && AccessToken("a b") == nil && AccessToken("a\n") == nil)
    }
}

@Suite("Daemon addresses")
struct DaemonAddressTests {
    @Test(
        "an address has a scheme, a host and a port",
        arguments: [
            ("http://127.0.0.1:8722", "http://127.0.0.1:8722", true),
            ("HTTP://LocalHost:8722/", "http://localhost:8722", true),
            ("http://[::1]:8722", "http://[::1]:8722", true),
            ("https://kv.example.org", "https://kv.example.org:443", false),
            ("https://kv.example.org:8443/a/b//", "https://kv.example.org:8443/a/b", false),
            ("unix:/home/a/b%20c/kvsd.sock", "unix:/home/a/b%20c/kvsd.sock", true),
            ("http://127.0.0.1.example.org:1", "http://127.0.0.1.example.org:1", false),
            ("http://127.300.0.1:1", "http://127.300.0.1:1", false),
        ])
    func valid(text: String, shown: String, isLoopback: Bool) throws {
        let address = try DaemonAddress(text)
        #expect(address.description == shown)
        #expect(address.isLoopback == isLoopback)
        #expect(try DaemonAddress(shown) == address)
    }

    @Test(
        "anything else is invalid, and the error does not repeat a password",
        arguments: [
            "", "127.0.0.1:8722", "localhost", "http://", "http:///x", "ftp://a", "file:///etc",
            "http://a:0", "http://a:65536", "http://a b", "http://a\n", "http://me:pässword@a",
            "http://me:hunter2@a", "http://a?token=hunter2", "http://a#hunter2",
            "unix:", "unix:a/b", "unix://host/a", "unix:/a%00b",
            "http://" + String(repeating: "a", count: 2_000),
        ])
    func invalid(text: String) {
        do throws(CredentialsError) {
            let address = try DaemonAddress(text)
            Issue.record("\(address)")
        } catch {
            #expect(!error.description.contains("hunter2"))
        }
    }
}
