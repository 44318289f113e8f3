#if Network
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import Synchronization
    import Testing
    import UsageState

    @testable import OutgoingHTTP
    @testable import UsageAlerts

    /// With real connections to a server in this process.
    @Suite("Delivery by HTTP to a server", .timeLimit(.minutes(1)))
    struct HTTPLoopbackTests {
        private let alert = Alert.test(at: UsageScene.noon)

        private func deliver(
            _ settings: AlertSettings, _ secrets: AlertSecrets, limit: Duration = .seconds(10)
        ) async -> [AlertTargets.Outcome] {
            var http = HTTPDelivery(
                privateHosts: settings.privateHosts, permission: "allow")
            http.send = HTTPExchange(limit: limit).send
            http.sleep = { _ in }
            let targets = AlertTargets(settings, secrets, variables: [:], http: http)
            return await targets.deliver(
                alert,
                AlertText(alert, now: UsageScene.noon, zone: .fixed(secondsFromGMT: 0)))
        }

        private func webhook(_ server: AlertServer) -> (AlertSettings, AlertSecrets) {
            var (settings, secrets) = (AlertSettings(), AlertSecrets())
            settings.webhook = true
            settings.privateHosts = ["127.0.0.1"]
            secrets[.webhookURL] = "http://127.0.0.1:\(server.port)/hook/s3cretpath"
            secrets[.webhookHeaders] = "X-Key: s3cretvalue"
            return (settings, secrets)
        }

        @Test("a webhook gets the alert as JSON with its headers")
        func webhook() async throws {
            let server = try await AlertServer([(204, [:])])
            let (settings, secrets) = webhook(server)
            #expect(await deliver(settings, secrets) == [.init(target: .webhook)])
            let request = try #require(server.requests.first)
            #expect(request.line == "POST /hook/s3cretpath")
            #expect(request.headers.first(name: "X-Key") == "s3cretvalue")
            let body = try JSONSerialization.jsonObject(with: request.body) as? [String: Any]
            #expect(body?["kind"] as? String == "test" && body?["schemaVersion"] as? Int == 1)
        }

        @Test("ntfy gets topic, title, priority, tags and what a tap opens")
        func ntfy() async throws {
            let server = try await AlertServer([(200, [:])])
            var (settings, secrets) = (AlertSettings(), AlertSecrets())
            settings.ntfy = AlertSettings.Ntfy(
                server: "http://127.0.0.1:\(server.port)", click: "https://usage.example.test/")
            settings.privateHosts = ["127.0.0.1"]
            secrets[.ntfyTopic] = "limits-7f3a"
            secrets[.ntfyToken] = "tk_invented"
            #expect(await deliver(settings, secrets) == [.init(target: .ntfy)])
            let request = try #require(server.requests.first)
            #expect(request.line == "POST /")
            #expect(request.headers.first(name: "Authorization") == "Bearer tk_invented")
            let body = try JSONSerialization.jsonObject(with: request.body) as? [String: Any]
            #expect(body?["topic"] as? String == "limits-7f3a")
            #expect(body?["title"] as? String == "Test alert of usage-push")
            #expect(body?["priority"] as? Int == 3 && body?["tags"] as? [String] == ["bell"])
            #expect(body?["click"] as? String == "https://usage.example.test/")
        }

        @Test("busy and failing servers are asked again")
        func retries() async throws {
            let server = try await AlertServer([
                (429, ["Retry-After": "1"]), (502, [:]), (200, [:]),
            ])
            let (settings, secrets) = webhook(server)
            #expect(await deliver(settings, secrets) == [.init(target: .webhook)])
            #expect(server.requests.count == 3)
        }

        @Test("a redirect to another address of this machine is refused")
        func redirect() async throws {
            let inner = try await AlertServer([(200, [:])])
            let server = try await AlertServer([
                (307, ["Location": "http://localhost:\(inner.port)/"])
            ])
            let (settings, secrets) = webhook(server)
            let outcomes = await deliver(settings, secrets)
            #expect(outcomes.first?.failure?.contains("localhost is not on the internet") == true)
            #expect(inner.requests.isEmpty)
        }

        @Test(
            "a server that hangs or hangs up is given up, and no secret is in what is said",
            arguments: [true, false])
        func silent(hangs: Bool) async throws {
            let server = try await AlertServer([], hangs: hangs)
            let (settings, secrets) = webhook(server)
            let outcomes = await deliver(settings, secrets, limit: .milliseconds(300))
            let failure = try #require(outcomes.first?.failure)
            #expect(failure.contains("3 attempts"), "\(failure)")
            if hangs { #expect(failure.contains("no answer within 0.3 seconds"), "\(failure)") }
            #expect(!failure.contains("s3cret"))
            #expect(server.requests.count == 3)
        }
    }

    /// Answers with what it is given, in order; then it closes connections without an answer, or leaves them open.
    private final class AlertServer: Sendable {
        struct Request: Sendable {
            var line: String
            var headers: HTTPHeaders
            var body = Data()
        }

        private struct State {
            var answers: [(Int, [String: String])]
            var requests: [Request] = []
        }

        private let state: Mutex<State>
        private let channel = Mutex<(any Channel)?>(nil)

        var requests: [Request] { state.withLock { $0.requests } }
        var port: Int { channel.withLock { $0?.localAddress?.port } ?? 0 }

        private let hangs: Bool

        init(_ answers: [(Int, [String: String])], hangs: Bool = false) async throws {
            self.hangs = hangs
            state = Mutex(State(answers: answers))
            let bound = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { [weak self] channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        try channel.pipeline.syncOperations.addHandler(Handler(self))
                    }
                }.bind(host: "127.0.0.1", port: 0).get()
            channel.withLock { $0 = bound }
        }

        deinit { channel.withLock { $0 }?.close(promise: nil) }

        private func answer(_ request: Request) -> (Int, [String: String])? {
            state.withLock { state in
                state.requests.append(request)
                return state.answers.isEmpty ? nil : state.answers.removeFirst()
            }
        }

        private final class Handler: ChannelInboundHandler {
            typealias InboundIn = HTTPServerRequestPart
            typealias OutboundOut = HTTPServerResponsePart

            private weak var server: AlertServer?
            private var request: Request?

            init(_ server: AlertServer?) { self.server = server }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                switch unwrapInboundIn(data) {
                case .head(let head):
                    request = Request(
                        line: "\(head.method.rawValue) \(head.uri)", headers: head.headers)
                case .body(let buffer): request?.body.append(contentsOf: buffer.readableBytesView)
                case .end:
                    guard let request, let (status, headers) = server?.answer(request) else {
                        if server?.hangs != true { context.close(promise: nil) }
                        return
                    }
                    var head = HTTPResponseHead(
                        version: .http1_1, status: .init(statusCode: status))
                    for (name, value) in headers { head.headers.add(name: name, value: value) }
                    head.headers.add(name: "Content-Length", value: "0")
                    context.write(wrapOutboundOut(.head(head)), promise: nil)
                    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
                }
            }
        }
    }
#endif
