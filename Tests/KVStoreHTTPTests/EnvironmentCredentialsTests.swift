import Foundation
import KVStore
import KVStoreWire
import LocalFiles
import StoreTestSupport
import Testing

@testable import KVStoreHTTP

@Suite("Credentials from environment variables")
struct EnvironmentCredentialsTests {
    private func environment(_ daemon: String?, _ token: String?) -> StoreEnvironment {
        var environment = StoreEnvironment(home: "/home/nobody")
        environment.variables["UBIQUITY_DAEMON"] = daemon
        environment.variables["UBIQUITY_TOKEN"] = token
        return environment
    }

    private func failure(_ environment: StoreEnvironment) -> StoreError? {
        do throws(StoreError) {
            _ = try environment.credentials()
            return nil
        } catch {
            return error
        }
    }

    @Test("both variables decide before the credentials file")
    func precedence() throws {
        try TemporaryDirectory.use { directory in
            var environment = StoreEnvironment(home: directory)
            let joined = try Credentials(
                daemon: DaemonAddress("http://127.0.0.1:1"), token: #require(AccessToken("t0ken")),
                account: "acc", deviceID: "dev", deviceName: "desk")
            try environment.credentialsFile.write(joined)
            #expect(try environment.credentials() == joined && !environment.namesDaemon)
            environment.variables["UBIQUITY_DAEMON"] = "http://127.0.0.1:2"
            environment.variables["UBIQUITY_TOKEN"] = "world/phone"
            let named = try #require(try environment.credentials())
            #expect(named.daemon.port == 2 && named.account == "world")
            #expect(named.deviceName == "phone" && named.isFromEnvironment)
            #expect(environment.isJoined && environment.namesDaemon)
            environment.variables["UBIQUITY_DAEMON"] = ""
            environment.variables["UBIQUITY_TOKEN"] = ""
            #expect(try environment.credentials() == joined)
        }
    }

    @Test("a variable pins the key of the daemon, and an invalid one is an error that names it")
    func key() throws {
        let key = String(repeating: "A", count: 43)
        var environment = environment("https://kvs.example.org", "t")
        #expect(try environment.credentials()?.key == nil)
        environment.variables["UBIQUITY_KEY"] = key
        #expect(try environment.credentials()?.key == KeyFingerprint(key))
        environment.variables["UBIQUITY_KEY"] = "abc"
        let error = try #require(failure(environment))
        #expect(error.description.contains("UBIQUITY_KEY") && error.hint?.contains("status") == true)
        environment.variables["UBIQUITY_KEY"] = key
        environment.variables["UBIQUITY_DAEMON"] = "http://127.0.0.1:1"
        let plain = try #require(failure(environment))
        #expect(plain.subject == "UBIQUITY_KEY" && plain.reason.contains("no TLS"))
        environment.variables["UBIQUITY_DAEMON"] = nil
        environment.variables["UBIQUITY_TOKEN"] = nil
        #expect(failure(environment)?.reason.contains("UBIQUITY_DAEMON is not") == true)
    }

    @Test("one variable alone is an error that names the other")
    func incomplete() {
        #expect(failure(environment("http://127.0.0.1:1", nil))?.reason.contains("UBIQUITY_TOKEN is not") == true)
        #expect(failure(environment("http://127.0.0.1:1", ""))?.reason.contains("UBIQUITY_TOKEN is not") == true)
        #expect(failure(environment(nil, "t"))?.reason.contains("UBIQUITY_DAEMON is not") == true)
        #expect(environment(nil, "t").isJoined)
    }

    @Test("an emulator on another machine needs no TLS, if the environment says that it is one")
    func emulatorElsewhere() throws {
        let url = "http://emulator.test:8723"
        var environment = environment(url, "world/phone")
        #expect(failure(environment)?.code == .unauthorized)
        environment.variables["UBIQUITY_EMULATOR"] = "http://127.0.0.1:8723/emulator/v1"
        #expect(failure(environment)?.code == .unauthorized)
        environment.variables["UBIQUITY_EMULATOR"] = url + "/emulator/v1"
        #expect(try environment.credentials()?.daemon.host == "emulator.test")
        environment.variables["UBIQUITY_TOKEN"] = DaemonIdentity.tokenPrefix + "s3cret"
        #expect(failure(environment)?.code == .unauthorized)
    }

    @Test(
        "no error shows the token",
        arguments: [
            ("127.0.0.1:1", "s3cret"), ("http://kv.example.org", "s3cret"),
            ("http://127.0.0.1:1", "s3cret two"), ("http://127.0.0.1:1", "s3cret\n"),
            ("http://127.0.0.1:1", "s3cret" + String(repeating: "x", count: 1_024)),
            ("ftp://127.0.0.1", "s3cret"), ("s3cret", "http://127.0.0.1:1"), ("emulator", "s3cret"),
        ])
    func invalid(daemon: String, token: String) throws {
        let error = try #require(failure(environment(daemon, token)))
        #expect(!"\(error)".contains("s3cret"))
        #expect(error.code == (daemon == "emulator" ? .unreachable : .unauthorized))
    }

    @Test("every device has replicas of its own, in a directory that shows no secret")
    func directories() throws {
        var seen: Set<String> = []
        for token in [
            "world/phone", "world/desk", "other/phone", "Other/phone", "s3cret", "s3cret2", "a/b/s3cret", "s3cret/=",
        ] {
            let environment = environment("http://127.0.0.1:1", token)
            let credentials = try #require(try environment.credentials())
            let directory = environment.accountDirectory(credentials)
            #expect(seen.insert(directory).inserted)
            #expect(!directory.contains("s3cret") && !"\(credentials)".contains("s3cret"))
            var dumped = ""
            dump(credentials, to: &dumped)
            #expect(!dumped.contains("s3cret"))
        }
        #expect(seen.contains("/home/nobody/.local/share/ubiquity/replicas/world%2fphone@127.0.0.1_1"))
    }

    @Test("the emulator is found by the file of a running process that only its user could write")
    func emulator() throws {
        try TemporaryDirectory.use { directory in
            var environment = StoreEnvironment(home: directory)
            environment.variables["UBIQUITY_DAEMON"] = "emulator"
            environment.variables["UBIQUITY_TOKEN"] = "world/phone"
            #expect(environment.emulatorURL == nil)
            let file = LocalFile(environment.dataDirectory + "/emulator.json")
            func write(_ processID: Int32) throws {
                try file.create(#"{"version":1,"processID":\#(processID),"url":"http://127.0.0.1:7"}"#)
            }
            try write(getpid())
            #expect(environment.emulatorURL == "http://127.0.0.1:7")
            #expect(try environment.credentials()?.daemon.port == 7)
            try file.setPermissions(0o620)
            #expect(environment.emulatorURL == nil)
            // No process has this id.
            try write(.max)
            #expect(environment.emulatorURL == nil)
            #expect(failure(environment)?.code == .unreachable)
            try file.create("{")
            #expect(environment.emulatorURL == nil)
        }
    }
}
