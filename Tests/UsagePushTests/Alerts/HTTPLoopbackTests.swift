#if Network || PostgreSQL
    import ClockZones
    import Foundation
    import ServerTestSupport
    import Testing
    import UsageState

    @testable import OutgoingHTTP
    @testable import usage_push

    /// With real connections to a server in this process.
    @Suite("Delivery by HTTP to a server", .timeLimit(.minutes(1)))
    struct HTTPLoopbackTests {
        private let alert = Alert.test(at: UsageScene.noon)

        private func deliver(
            _ settings: AlertSettings, _ secrets: AlertSecrets, limit: Duration = .seconds(10)
        ) async -> [AlertTargets.Outcome] {
            var http = HTTPDelivery(privateHosts: settings.privateHosts, permission: "allow")
            http.send = HTTPExchange(limit: limit).send
            http.sleep = { _ in }
            let targets = AlertTargets(settings, secrets, variables: [:], http: http)
            return await targets.deliver(alert, AlertText(alert, now: UsageScene.noon, zone: .fixed(secondsFromGMT: 0)))
        }

        private func webhook(
            _ server: TestPushService, _ answers: TestPushService.Answer...
        ) -> (AlertSettings, AlertSecrets) {
            server.answer("/hook/s3cretpath", answers)
            var (settings, secrets) = (AlertSettings(), AlertSecrets())
            settings.webhook = true
            settings.privateHosts = [String(server.origin.dropFirst("http://".count))]
            secrets[.webhookURL] = server.origin + "/hook/s3cretpath"
            secrets[.webhookHeaders] = "X-Key: s3cretvalue"
            return (settings, secrets)
        }

        @Test("a webhook gets the alert as JSON with its headers")
        func webhook() async throws {
            let server = try await TestPushService()
            let (settings, secrets) = webhook(server, .status(204))
            #expect(await deliver(settings, secrets) == [.init(target: .webhook)])
            let request = try #require(server.requests.first)
            #expect(request.method == "POST" && request.path == "/hook/s3cretpath")
            #expect(request.field("X-Key") == "s3cretvalue")
            let body = try JSONSerialization.jsonObject(with: request.body) as? [String: Any]
            #expect(body?["kind"] as? String == "test" && body?["schemaVersion"] as? Int == 1)
        }

        @Test("ntfy gets topic, title, priority, tags and what a tap opens")
        func ntfy() async throws {
            let server = try await TestPushService()
            var (settings, secrets) = (AlertSettings(), AlertSecrets())
            settings.ntfy = AlertSettings.Ntfy(server: server.origin, click: "https://usage.example.test/")
            settings.privateHosts = [String(server.origin.dropFirst("http://".count))]
            secrets[.ntfyTopic] = "limits-7f3a"
            secrets[.ntfyToken] = "tk_invented"
            #expect(await deliver(settings, secrets) == [.init(target: .ntfy)])
            let request = try #require(server.requests.first)
            #expect(request.method == "POST" && request.path == "/")
            #expect(request.field("Authorization") == "Bearer tk_invented")
            let body = try JSONSerialization.jsonObject(with: request.body) as? [String: Any]
            #expect(body?["topic"] as? String == "limits-7f3a")
            #expect(body?["title"] as? String == "Test alert of usage-push")
            #expect(body?["priority"] as? Int == 3 && body?["tags"] as? [String] == ["bell"])
            #expect(body?["click"] as? String == "https://usage.example.test/")
        }

        @Test("busy and failing servers are asked again")
        func retries() async throws {
            let server = try await TestPushService()
            let (settings, secrets) = webhook(server, .status(429, ["Retry-After": "1"]), .status(502), .status(200))
            #expect(await deliver(settings, secrets) == [.init(target: .webhook)])
            #expect(server.requests.count == 3)
        }

        @Test("a redirect to another address of this machine is refused")
        func redirect() async throws {
            let (inner, server) = (try await TestPushService(), try await TestPushService())
            let target = inner.origin.replacing("127.0.0.1", with: "localhost")
            let (settings, secrets) = webhook(server, .status(307, ["Location": target]))
            let outcomes = await deliver(settings, secrets)
            #expect(outcomes.first?.failure?.contains("localhost is not on the internet") == true)
            #expect(inner.requests.isEmpty)
        }

        @Test(
            "a server that hangs or hangs up is given up, and no secret is in what is said", arguments: [true, false])
        func silent(hangs: Bool) async throws {
            let server = try await TestPushService()
            let answer = hangs ? TestPushService.Answer.silence : .hangUp
            let (settings, secrets) = webhook(server, answer, answer, answer)
            let outcomes = await deliver(settings, secrets, limit: .milliseconds(300))
            let failure = try #require(outcomes.first?.failure)
            #expect(failure.contains("3 attempts"), "\(failure)")
            if hangs { #expect(failure.contains("no answer within 0.3 seconds"), "\(failure)") }
            #expect(!failure.contains("s3cret"))
            #expect(server.requests.count == 3)
        }
    }
#endif
