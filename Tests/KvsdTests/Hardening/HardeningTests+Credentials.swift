import Foundation
import HTTPTypes
import NIOCore
import ServerTestSupport
import Testing

/// Guesses of tokens and codes.
extension HardeningTests {
    private static func pairing(_ code: String) -> String {
        #"{"code":"\#(code)","device":"guesser"}"#
    }

    /// Guesses until the daemon no longer looks.
    private static func guess(_ attacked: AttackedDaemon, refusal: Int, _ request: () -> String) async throws {
        var statuses: [Int] = []
        repeat {
            statuses += try await attacked.answers(to: request()).statuses
        } while statuses.last == refusal && statuses.count < 1_000
        #expect(statuses.count > 10)
        #expect(statuses.dropLast().allSatisfy { $0 == refusal })
        #expect(statuses.last == 429)
    }

    private static func code() -> String {
        let bytes = (0..<22).map { _ in UInt8.random(in: .min ... .max) }
        return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    @Test("after too many wrong codes not even the right one is looked at, except over the socket")
    func codes() async throws {
        try await AttackedDaemon.withstands { attacked in
            let data = attacked.process.dataPath
            let line = try await DaemonProcess.run(["pair", "--data", data]).output
            let code = try #require(line.firstMatch(of: /ubiquity:\/\/[^\/]+\/([\w-]+)\//)).1
            func request(_ code: some StringProtocol) -> String {
                let body = Self.pairing(String(code))
                return attacked.head(
                    "POST /v1/pair", token: "",
                    "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
                    + body
            }
            try await Self.guess(attacked, refusal: 403) { request(Self.code()) }
            let refused = try await attacked.answers(to: request(code))
            #expect(refused.statuses == [429] && refused.codes == ["failed-authentications"])
            let large = attacked.head("POST /v1/pair", "Content-Length: 2000000\r\n\r\n")
            #expect(try await attacked.answers(to: large).statuses == [413])
            let local = TestClient(socketPath: data + "/kvsd.sock")
            let paired = try await local.execute(
                uri: "/v1/pair", method: .post, body: ByteBuffer(string: Self.pairing(String(code)))
            )
            #expect(paired.status == .ok, "\(paired.text)")
            await local.close()
        }
    }

    @Test("after too many wrong tokens right ones still work, on old and new connections")
    func tokens() async throws {
        try await AttackedDaemon.withstands { attacked in
            try await Self.guess(attacked, refusal: 401) {
                attacked.head("GET /v1/me", token: "ubq_" + Self.code() + Self.code()) + "\r\n"
            }
            let answers = try await attacked.answers(to: attacked.head("GET /v1/me") + "\r\n")
            #expect(answers.statuses == [200], "\(answers)")
            let local = TestClient(socketPath: attacked.process.dataPath + "/kvsd.sock")
            let answer = try await local.execute(
                uri: "/v1/me", method: .get, headers: [.authorization: "Bearer \(attacked.token)"])
            #expect(answer.status == .ok)
            await local.close()
        }
    }
}
