// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// Each build has one trait: SwiftPM passes the names of several to the compiler in random order, and any other order
/// compiles everything again. Without any (`traits: []`), in an app that embeds `KVStore` alone, nothing is fetched.
/// `scripts/run` builds its two programs without the network, whose packages take most of a build.
let commands = TargetDependencyCondition.when(traits: ["Programs", "Network", "PostgreSQL"])
let network = TargetDependencyCondition.when(traits: ["Network", "PostgreSQL"])

/// The targets behind one of the doors of the house, which ARCHITECTURE.md shows, each in a directory of its name.
func door(_ path: String, _ targets: Target...) -> [Target] {
    for target in targets { target.path = "\(path)/\(target.name)" }
    return targets
}

func library(_ name: String, _ needs: [Target.Dependency] = [], embedding files: String? = nil) -> Target {
    .target(name: name, dependencies: needs, resources: files.map { [.embedInCode($0)] })
}

let installed = ["usage-push", "usage-view", "kvs", "kvsd", "clip", "link"]
/// The programs that are parts of one file, `ubq`, which is each of them by the name that starts it: what they share is in a
/// package once. `scripts/build-release` sets the variable.
let parts = Context.environment["UBIQUITY_ONE_PROGRAM"] == nil ? [] : installed

func program(_ name: String, _ needs: [Target.Dependency]) -> Target {
    parts.contains(name)
        ? .target(name: name, dependencies: needs) : .executableTarget(name: name, dependencies: needs)
}

func tests(_ name: String, _ needs: [Target.Dependency] = []) -> Target { .testTarget(name: name, dependencies: needs) }

func product(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: network)
}

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: commands)
let crypto = product("Crypto", "swift-crypto")
let httpTypes = product("HTTPTypes", "swift-http-types")
let logging = product("Logging", "swift-log")
let nioCore = product("NIOCore", "swift-nio")
let nioHTTP1 = product("NIOHTTP1", "swift-nio")
let nioPosix = product("NIOPosix", "swift-nio")
let certificates = [product("SwiftASN1", "swift-asn1"), product("X509", "swift-certificates")]

let nio: [Target.Dependency] = [nioCore, nioHTTP1, nioPosix, product("NIOSSL", "swift-nio-ssl")]
let storage: [Target.Dependency] = ["KVStoreCore", "KVStoreLog", "LocalFiles", "Essentials"]
let engine: [Target.Dependency] = storage + ["KVStoreEssentials", "KVStoreLedger", "KVStoreWire"]
let served: [Target.Dependency] = engine + ["KVStoreServer", logging]
let command: [Target.Dependency] = ["Commands", "TerminalText", argumentParser]
let storeCommand = command + ["LocalFiles", "Essentials", "KVStoreEssentials", "KVStoreHTTP"]
/// In programs that are built without the network, too.
let sealed = Target.Dependency.target(name: "KVStoreSealed", condition: network)
let usageState: [Target.Dependency] = ["UsageState", "SnapshotModels", "ClockZones"]

let machine = door(
    "Sources/Machine",
    library("Essentials"),
    library("CShims"),
    library("LocalFiles", ["Essentials"]),
    library("ClockZones", ["LocalFiles", "Essentials"]),
    library("SQLiteReading", ["CShims", "LocalFiles", "Essentials"]),
    library("TerminalText", ["Essentials"]),
    library("Commands", ["CShims", "TerminalText", "LocalFiles", "Essentials", argumentParser]),
    library("OutgoingHTTP", nio + ["Essentials"]),
    .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])])
)

let store = door(
    "Sources/Store",
    library("KVStoreCore", ["Essentials"]),
    library("KVStoreLog", ["CShims", "KVStoreCore", "LocalFiles", "Essentials"]),
    library("KVStoreEssentials", storage),
    library("KVStoreLedger", storage),
    library("KVStoreWire", ["KVStoreCore", "Essentials"]),
    library(
        "KVStoreHTTP",
        storage + nio + ["KVStoreEssentials", "KVStoreWire", crypto, product("AsyncHTTPClient", "async-http-client")]),
    library(
        "KVStoreSealed", ["KVStoreCore", "KVStoreEssentials", "KVStoreWire", "LocalFiles", "Essentials", crypto],
        embedding: "Resources/words.txt"),
    library("KVStoreSimulation", storage + ["KVStoreWire"])
)

let server = door(
    "Sources/Server",
    library("KVStoreServer", nio + engine + certificates + [crypto, logging], embedding: "Pages/Files"),
    library(
        "KVStorePostgreSQL",
        served + ["TerminalText", crypto, nioCore, nioPosix]
            + [.target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"]))])
)

let usage = door(
    "Sources/Usage",
    library(
        "UsageState", ["ClockZones", "SnapshotModels", "KVStoreCore", "KVStoreWire", "TerminalText", "Essentials"]),
    library(
        "UsageServer",
        served + usageState + ["Commands", "OutgoingHTTP", "TerminalText", crypto, nioCore, nioHTTP1],
        embedding: "Page/Files"),
    program("usage-push", storeCommand + usageState + [sealed, "UsagePusher", "OutgoingHTTP"])
)

let testing = door(
    "Sources/Testing",
    library("KVStoreTesting", storage + ["KVStore", "KVStoreLedger", "KVStoreSimulation", "KVStoreWire"]),
    library("KVStoreEmulator", served + nio + ["KVStoreSimulation", crypto], embedding: "Page")
)

let fixedNames = door(
    "Sources",
    library("KVStore", ["KVStoreEssentials", "KVStoreCore"]),
    library("SnapshotModels", ["Essentials"]),
    library(
        "UsagePusher", command + usageState + ["SQLiteReading", "CShims", "LocalFiles", "Essentials"],
        embedding: "Tokens/model-prices.json"),
    program("usage-view", storeCommand + usageState + [sealed, "KVStoreWire", "UsagePusher"]),
    program(
        "kvsd",
        command + served
            + ["KVStorePostgreSQL", "KVStoreEmulator", "KVStoreSimulation", "UsageServer", "OutgoingHTTP"])
)

let programs = door(
    "Sources/Programs",
    program("kvs", storeCommand + usageState + ["KVStoreWire", "KVStoreSealed"]),
    program(
        "ubq", command + ["LocalFiles", "Essentials", "KVStoreCore", "KVStoreWire"] + parts.map { .target(name: $0) })
)

let companions = door(
    "Sources/Companions",
    program("clip", storeCommand + ["KVStoreSealed", "SQLiteReading", "CShims", crypto]),
    program("link", storeCommand)
)

let storeTests = engine + ["KVStore", "KVStoreSimulation", "StoreTestSupport"]
let serverTests = storeTests + nio + ["KVStoreServer", "TestSupport", "ServerTestSupport", crypto, httpTypes, logging]
let commandTests = storeCommand + usageState + ["KVStoreCore", "KVStoreWire", "TestSupport", "StoreTestSupport"]

let testSupport = door(
    "Tests/Support",
    library("TestSupport", ["Commands", "StoreTestSupport"]),
    library("StoreTestSupport", ["KVStoreCore", "KVStoreLog", "KVStoreSimulation"]),
    library(
        "ServerTestSupport",
        served + nio + usageState + ["TestSupport", "KVStorePostgreSQL", "UsageServer", crypto, httpTypes]),
    library("SimulatedWorld", storage + ["KVStore", "KVStoreLedger", "KVStoreSimulation", "KVStoreTesting"]),
    program("simulate", ["SimulatedWorld", "Commands", argumentParser]),
    library("FuzzTargets", engine + ["KVStore", "SnapshotModels", "KVStoreSimulation"])
)

let allTests = door(
    "Tests",
    tests("LocalFilesTests", ["LocalFiles"]),
    tests("ClockZonesTests", ["ClockZones", "LocalFiles", "Essentials"]),
    tests("TerminalTextTests", ["TerminalText", "TestSupport", "StoreTestSupport"]),
    tests("CommandsTests", ["Commands", "Essentials", "TestSupport", "StoreTestSupport"]),
    tests("OutgoingHTTPTests", ["OutgoingHTTP"]),
    tests("KVStoreCoreTests", storeTests),
    tests("KVStoreLogTests", storeTests),
    tests("KVStoreLedgerTests", storeTests),
    tests("KVStoreTests", storeTests),
    tests("KVStoreWireTests", storeTests),
    tests("KVStoreHTTPTests", storeTests + ["KVStoreHTTP", nioCore, nioPosix]),
    tests("KVStoreSealedTests", storeTests + ["KVStoreSealed", "KVStoreTesting", crypto]),
    tests("FuzzTests", ["FuzzTargets"]),
    tests("SimulatedWorldTests", ["SimulatedWorld"]),
    tests("SimulatedCloudTests", storeTests + ["KVStoreTesting"]),
    tests("EmulatorTests", serverTests + ["kvs", "kvsd", "KVStoreHTTP", "KVStoreEmulator", "KVStoreTesting"]),
    tests("KVStoreServerTests", serverTests + certificates + ["KVStorePostgreSQL", product("NIOTLS", "swift-nio")]),
    tests("KVStorePostgreSQLTests", serverTests + ["KVStorePostgreSQL"]),
    tests("KvsdTests", serverTests + usageState + ["kvsd", "KVStorePostgreSQL", "UsageServer"]),
    tests("KvsTests", serverTests + ["kvs", "Commands", "SnapshotModels"]),
    tests("SnapshotModelsTests", ["SnapshotModels", "StoreTestSupport"]),
    tests("UsagePusherTests", commandTests + ["UsagePusher", "SQLiteReading"]),
    tests(
        "UsagePushTests",
        commandTests + ["usage-push", "usage-view", "kvs", "kvsd", "KVStore", "KVStoreTesting", "OutgoingHTTP"]
            + ["UsagePusher", "ServerTestSupport"]),
    tests("UsageViewTests", commandTests + ["usage-view", "usage-push"]),
    tests(
        "UsageServerTests",
        serverTests + usageState + command + ["kvs", "kvsd", "usage-view", "UsageServer", "OutgoingHTTP"]),
    tests("UbqTests", commandTests + ["ubq"] + installed.map { .target(name: $0) }),
    tests("ClipTests", commandTests + ["clip", "link", "kvs", "kvsd", "KVStoreSealed"]),
    tests("LinkTests", commandTests + ["link", "kvs", "kvsd"]),
    tests("TidyTests")
)

let package = Package(
    name: "ubiquity",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        "KVStore", "KVStoreTesting", "SnapshotModels", "KVStoreHTTP", "KVStoreSealed",
        "KVStoreServer", "KVStoreEmulator", "UsagePusher",
    ].map { .library(name: $0, targets: [$0]) }
        + (parts.isEmpty ? installed + ["ubq"] : ["ubq"]).map { .executable(name: $0, targets: [$0]) },
    traits: [
        .default(enabledTraits: ["Network"]),
        .trait(name: "Network", description: "All programs and libraries, with HTTP and TLS."),
        .trait(name: "Programs", description: "The programs without the network, on one machine."),
        .trait(name: "PostgreSQL", description: "Network with kvsd on PostgreSQL; needs libpq."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: fixedNames + machine + store + server + usage + testing + programs + companions + testSupport + allTests
        + door("Benchmarks", program("store-benchmarks", engine))
)

// Needs libFuzzer, which 'scripts/fuzz' links.
if Context.environment["UBIQUITY_FUZZ"] != nil {
    package.targets += door("Tests/Support", library("CLibFuzzer"), program("fuzz", ["FuzzTargets", "CLibFuzzer"]))
}

/// `scripts/build-tests` sets the variable, and compiles all without optimization but what tests spend most time in: to
/// optimize the rest, with all packages, takes longer than it saves. The frontend uses the last level that it is given.
let hot = ["KVStore", "KVStoreTesting", "SimulatedWorld", "SnapshotModels", "UsagePusher", "UsageState"]
let optimized = Context.environment["UBIQUITY_TESTS"] == nil ? [] : hot + (machine + store).map(\.name)

for target in package.targets where target.type != .system {
    target.swiftSettings = strict
    if optimized.contains(target.name) {
        target.swiftSettings! += [.unsafeFlags(["-Xfrontend", "-O", "-assert-config", "Debug"])]
    }
    if parts.contains(target.name) {
        let entry = target.name.split(separator: "-").joined(separator: "_") + "_main"
        target.swiftSettings! += [.unsafeFlags(["-Xfrontend", "-entry-point-function-name", "-Xfrontend", entry])]
    } else if target.name == "ubq", !parts.isEmpty {
        target.swiftSettings! += [.define("ONE_PROGRAM")]
    }
}
