import Hummingbird

/// The table of contents of the wire.
enum DaemonRouter {
    static func make(_ daemon: Daemon) -> Router<DaemonContext> {
        let router = Router(context: DaemonContext.self)
        router.add(middleware: ProblemMiddleware(daemon: daemon))

        let health = HealthRoutes(daemon: daemon)
        router.get("healthz") { _, _ in health.alive() }
        router.get("readyz") { _, _ in try await health.ready() }
        router.get("metrics") { _, _ in health.metrics() }

        let accounts = AccountRoutes(daemon: daemon)
        let sync = SyncRoutes(daemon: daemon)
        let keys = KeyRoutes(daemon: daemon)
        let version1 = router.group("v1").add(middleware: AuthenticationMiddleware(daemon: daemon))
        version1.get("me") { _, context in try await accounts.me(context) }
        version1.get("devices") { _, context in try await accounts.devices(context) }
        version1.get("stores") { _, context in try await accounts.stores(context) }
        version1.post("stores/:store/sync") { try await sync.sync($0, $1) }
        version1.get("stores/:store/changes") { try await sync.changes($0, $1) }
        version1.get("stores/:store/keys") { _, context in try await keys.list(context) }
        version1.get("stores/:store/keys/:key") { try await keys.get($0, $1) }
        version1.put("stores/:store/keys/:key") { try await keys.put($0, $1) }
        version1.delete("stores/:store/keys/:key") { _, context in try await keys.delete(context) }
        return router
    }
}
