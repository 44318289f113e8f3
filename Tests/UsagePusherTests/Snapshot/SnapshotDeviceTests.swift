import Foundation
import LocalFiles
import Testing

@testable import UsagePusher

@Suite("Device identity")
struct SnapshotDeviceTests {
    private let home: WatchedDirectory
    private var directory: String { home.at("data") }

    init() throws { home = try WatchedDirectory() }

    @Test("the id is created once, in a private file, and stays")
    func created() throws {
        let file = DeviceIdentityFile(dataDirectory: directory + "/deep/data")
        #expect(try file.read() == nil)
        let id = try file.readOrCreate()
        #expect(id == id.lowercased())
        #expect(UUID(uuidString: id) != nil)
        #expect(try file.readOrCreate() == id)
        #expect(try file.read() == id)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/deep/data")
        #expect(names == ["device-id"])
    }

    @Test("of concurrent creators one wins, and all get its id")
    func race() async throws {
        let file = DeviceIdentityFile(dataDirectory: directory)
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<32 { group.addTask { try file.readOrCreate() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
    }

    @Test(
        "an invalid identity file is reported, not replaced",
        arguments: ["", "\n", "not-an-id", "6ba7b810-9dad-11d1-80b4-00c04fd430c8x", "{}"])
    func invalid(text: String) throws {
        let file = DeviceIdentityFile(dataDirectory: directory)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try text.write(toFile: file.path, atomically: true, encoding: .utf8)
        let error = #expect(throws: FileError.self) { try file.readOrCreate() }
        #expect(error?.isInvalid == true)
        #expect(error?.description.contains("\(file.path): it does not contain a device id") == true)
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
    }

    @Test("an id in upper case or without a line feed is read")
    func lenient() {
        let id = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
        #expect(DeviceIdentity.id(in: id.uppercased()) == id)
        #expect(DeviceIdentity.id(in: id + "\r\n") == id)
    }

    @Test("a directory that cannot be created is an error that names it")
    func unwritable() throws {
        try "".write(toFile: directory, atomically: true, encoding: .utf8)
        let file = DeviceIdentityFile(dataDirectory: directory + "/data")
        let failure = #expect(throws: FileError.self) {
            try file.readOrCreate()
        }
        #expect(failure?.description.contains(directory) == true)
    }

    @Test("the pretty host name is unquoted as by a shell")
    func prettyName() {
        func name(_ text: String) -> String? { DeviceIdentity.prettyHostname(in: text) }
        #expect(name("ICON_NAME=computer\nPRETTY_HOSTNAME=\"Lena's desk\"\n") == "Lena's desk")
        #expect(name("PRETTY_HOSTNAME=desk") == "desk")
        #expect(name("PRETTY_HOSTNAME='a b'") == "a b")
        #expect(name(#"PRETTY_HOSTNAME="a \"b\" \\ c""#) == #"a "b" \ c"#)
        #expect(name("PRETTY_HOSTNAME=\"\"\n# PRETTY_HOSTNAME=x") == nil)
        #expect(name("PRETTY_HOSTNAME=\"") == "\"")
        #expect(name("") == nil)
    }

    @Test("this machine has a name, and an empty name is replaced")
    func systemName() {
        #expect(!DeviceIdentity(id: nil, name: DeviceIdentity.systemName()).name.isEmpty)
        #expect(DeviceIdentity(id: nil, name: " \n").name == "unnamed device")
    }
}
