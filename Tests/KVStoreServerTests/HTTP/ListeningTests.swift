import Foundation
import NIOCore
import Testing

@testable import KVStoreServer

@Suite("Listening", .timeLimit(.minutes(5)))
struct ListeningTests {
    private func failure(host: String, port: Int) async throws -> String {
        let address = ListenAddress(host: host, port: port)
        let server = try StoreServer(ServerConfiguration(address: address))
        let error = await #expect(throws: ServerError.self) { try await server.run() }
        return try #require(error).description
    }

    @Test("a port in use is an error that says so")
    func portInUse() async throws {
        let server = try StoreServer()
        async let running: Void = server.run()
        let port = try await server.port
        #expect(
            try await failure(host: "127.0.0.1", port: port)
                == "cannot listen on 127.0.0.1:\(port): the port is in use; stop the program that "
                + "listens there, or choose another port")
        await server.stop()
        try await running
    }

    @Test("an address of another machine and an unknown host are errors that say so")
    func foreignAddress() async throws {
        // An address of TEST-NET-1.
        #expect(
            try await failure(host: "192.0.2.1", port: 8_722)
                == "cannot listen on 192.0.2.1:8722: this machine does not have the address; "
                + "listen on one of its own, or on 0.0.0.0 for all")
        #expect(
            try await failure(host: "nowhere.invalid", port: 8_722)
                == "cannot listen on nowhere.invalid:8722: unknown host")
    }

    /// Not met by root.
    @Test("a port that needs privileges is an error that names those that do not")
    func privilegedPort() {
        let error = IOError(errnoCode: EACCES, reason: "bind")
        let address = ListenAddress(host: "127.0.0.1", port: 80)
        #expect(
            ServerError.cannotListen(on: address, error).description
                == "cannot listen on 127.0.0.1:80: permission denied; choose a port above 1023")
    }
}
