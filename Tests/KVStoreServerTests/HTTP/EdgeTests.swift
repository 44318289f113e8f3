import KVStoreCore
import Testing

@testable import KVStoreServer

@Suite("Rates and addresses")
struct EdgeTests {
    @Test("a bucket allows its burst at once, then its rate")
    func bucket() {
        var bucket = TokenBucket(perSecond: 50, burst: 200, now: 0)
        for _ in 0..<200 { #expect(bucket.take(now: 0) == nil) }
        #expect(bucket.take(now: 0) == 20)
        #expect(bucket.take(now: 19) == 1)
        #expect(bucket.take(now: 20) == nil)
        #expect(bucket.take(now: 20) == 20)
        for _ in 0..<200 { #expect(bucket.take(now: 10_000) == nil) }
        #expect(bucket.take(now: 10_000) != nil)
    }

    @Test("a clock that steps back adds no tokens")
    func backwards() {
        var bucket = TokenBucket(perSecond: 1, burst: 1, now: 1_000)
        #expect(bucket.take(now: 1_000) == nil)
        #expect(bucket.take(now: 0) != nil)
        #expect(bucket.take(now: 1_500) != nil)
        #expect(bucket.take(now: 2_000) == nil)
    }

    @Test("a rate limiter stays within its limit and keeps empty buckets")
    func table() {
        let table = RateLimiter(perSecond: 0.1, burst: 2, limit: 10)
        for _ in 0..<3 { _ = table.take("busy", now: 0) }
        for index in 0..<1_000 { _ = table.take("a\(index)", now: 1) }
        #expect(table.count <= 10)
        #expect(table.take("busy", now: 1) != nil)
    }

    @Test("only loopback addresses count as loopback")
    func loopback() throws {
        for text in ["127.0.0.1:8722", "127.8.9.1:1", "[::1]:80", "localhost:0"] {
            #expect(try #require(ListenAddress(text)).isLoopback, "\(text)")
        }
        for text in ["0.0.0.0:8722", "[::]:80", "192.168.1.4:1", "example.org:80", "128.0.0.1:1"] {
            #expect(try #require(ListenAddress(text)).isLoopback == false, "\(text)")
        }
    }

    @Test(
        "an address that nothing can listen on is no address",
        arguments: [
            "8722", "127.0.0.1", "::1:80", "[::1]80", "a:b", "a:70000", ":80", "a:+80", "[a]:80",
            "[127.0.0.1:99999]:80", "[::1:80", "[]:80", "256.0.0.1:80", "1.2.3:80", "1.2.3.4.5:80",
            "a b:80", "a/b:80", "-a:80", "a..b:80", "ä:80",
            String(repeating: "a", count: 64) + ":80",
        ])
    func invalidAddress(text: String) { #expect(ListenAddress(text) == nil) }

    @Test(
        "host names, IPv4 and IPv6 addresses are addresses",
        arguments: [
            ("example.org:80", "example.org"), ("my_host-1:0", "my_host-1"), ("a.:80", "a."),
            ("1.2.3.4:80", "1.2.3.4"), ("[fe80::1%eth0]:80", "fe80::1%eth0"),
            ("[::ffff:1.2.3.4]:80", "::ffff:1.2.3.4"), ("3com.example:80", "3com.example"),
        ])
    func validAddress(text: String, host: String) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.host == host && address.description == text)
    }
}
