// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// Of one trait each build: SwiftPM passes the names of several to the compiler in random order, and any other order
/// compiles everything again. Without any (`traits: []`), in an app that embeds `KVStore` alone, nothing is fetched.
/// `scripts/run` builds its two programs without the network, whose packages take most of a build.
let commands = TargetDependencyCondition.when(traits: ["Programs", "Network", "PostgreSQL"])
let network = TargetDependencyCondition.when(traits: ["Network", "PostgreSQL"])

/// The targets behind one of the doors of the house, each in a directory of its name. ARCHITECTURE.md shows them
/// around.
func door(_ path: String, _ targets: Target...) -> [Target] {
    for target in targets { target.path = "\(path)/\(target.name)" }
    return targets
}

func library(_ name: String, _ needs: [Target.Dependency] = [], resources: [Resource]? = nil) -> Target {
    .target(name: name, dependencies: needs, resources: resources)
}

func program(_ name: String, _ needs: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: needs)
}

func tests(_ name: String, _ needs: [Target.Dependency] = []) -> Target {
    .testTarget(name: name, dependencies: needs)
}

func product(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: network)
}

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: commands)
let asyncHTTPClient = product("AsyncHTTPClient", "async-http-client")
let crypto = product("Crypto", "swift-crypto")
let httpTypes = product("HTTPTypes", "swift-http-types")
let logging = product("Logging", "swift-log")
let nioCore = product("NIOCore", "swift-nio")
let nioHTTP1 = product("NIOHTTP1", "swift-nio")
let nioPosix = product("NIOPosix", "swift-nio")
let nioSSL = product("NIOSSL", "swift-nio-ssl")
let nioTLS = product("NIOTLS", "swift-nio")
let swiftASN1 = product("SwiftASN1", "swift-asn1")
let x509 = product("X509", "swift-certificates")

let nio: [Target.Dependency] = [nioCore, nioHTTP1, nioPosix, nioSSL]
let storage: [Target.Dependency] = ["KVStoreCore", "KVStoreLog", "LocalFiles", "Essentials"]
let engine: [Target.Dependency] = storage + ["KVStoreEssentials", "KVStoreLedger", "KVStoreWire"]
let command: [Target.Dependency] = [
    "Commands", "TerminalText", "LocalFiles", "Essentials", argumentParser,
]
let storeCommand = command + ["KVStoreEssentials", "KVStoreHTTP"]
let usageState: [Target.Dependency] = ["UsageState", "SnapshotModels"]

let machine = door(
    "Sources/Machine",
    library("Essentials"),
    library("CShims"),
    library("LocalFiles", ["Essentials"]),
    library("SQLiteReading", ["LocalFiles", "Essentials"]),
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
        nio + [
            "KVStoreEssentials", "KVStoreCore", "KVStoreWire", "LocalFiles", "Essentials", asyncHTTPClient, crypto,
        ]),
    library(
        "KVStoreSealed", ["KVStoreCore", "KVStoreEssentials", "KVStoreWire", "LocalFiles", "Essentials", crypto],
        resources: [.embedInCode("Resources/words.txt")]),
    library("KVStoreSimulation", storage + ["KVStoreWire"])
)

let server = door(
    "Sources/Server",
    library(
        "KVStoreServer", nio + engine + [crypto, logging, swiftASN1, x509],
        resources: [.embedInCode("Pages/Files")]),
    library(
        "KVStorePostgreSQL",
        engine + [
            "KVStoreServer", "TerminalText", .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            crypto, logging, nioCore,
        ])
)

let usage = door(
    "Sources/Usage",
    library("UsageState", ["SnapshotModels", "KVStoreWire", "TerminalText", "Essentials"]),
    library(
        "UsageServer",
        usageState + [
            "KVStoreServer", "KVStoreEssentials", "KVStoreCore", "KVStoreWire", "Commands", "OutgoingHTTP",
            "TerminalText", "LocalFiles", "Essentials", crypto, logging, nioCore, nioHTTP1,
        ], resources: [.embedInCode("Page/Files")]),
    program("usage-push", storeCommand + usageState + ["UsagePusher", "KVStore", "OutgoingHTTP"])
)

let testing = door(
    "Sources/Testing",
    library("KVStoreTesting", storage + ["KVStore", "KVStoreLedger", "KVStoreSimulation", "KVStoreWire"]),
    library(
        "KVStoreEmulator",
        engine + [
            "KVStoreServer", "KVStoreSimulation", crypto, logging, nioCore, nioHTTP1, nioPosix,
        ], resources: [.embedInCode("Page")])
)

let fixedNames = door(
    "Sources",
    library("KVStore", ["KVStoreEssentials", "KVStoreCore"]),
    library("SnapshotModels", ["Essentials"]),
    library(
        "UsagePusher", ["SnapshotModels", "SQLiteReading", "LocalFiles", "Commands"],
        resources: [.embedInCode("Tokens/model-prices.json")]),
    program("usage-view", storeCommand + usageState + ["KVStoreWire"]),
    program(
        "kvsd",
        command + engine + [
            "KVStoreServer", "KVStorePostgreSQL", "KVStoreEmulator", "KVStoreSimulation", "UsageServer",
            "OutgoingHTTP", logging,
        ])
)

let programs = door("Sources/Programs", program("kvs", storeCommand + usageState + ["KVStoreWire", "KVStoreSealed"]))

let companions = door(
    "Sources/Companions",
    program("clip", storeCommand + ["KVStoreSealed", "SQLiteReading", crypto]),
    program("link", storeCommand)
)

let serverTests: [Target.Dependency] = ["TestSupport", "ServerTestSupport", "StoreTestSupport", httpTypes, nioCore]

let testSupport = door(
    "Tests/Support",
    library("TestSupport"),
    library("StoreTestSupport", ["KVStoreCore", "KVStoreLog", "KVStoreSimulation"]),
    library(
        "ServerTestSupport",
        nio + usageState + [
            "TestSupport", "KVStoreCore", "KVStoreWire", "KVStorePostgreSQL", "UsageServer", crypto, httpTypes,
            logging,
        ]),
    library("SimulatedWorld", storage + ["KVStore", "KVStoreLedger", "KVStoreSimulation", "KVStoreTesting"]),
    program("simulate", ["SimulatedWorld", "Commands", argumentParser]),
    library("FuzzTargets", engine + ["KVStore", "SnapshotModels", "KVStoreSimulation"])
)

let allTests = door(
    "Tests",
    tests("LocalFilesTests", ["LocalFiles"]),
    tests("TerminalTextTests", ["TerminalText", "TestSupport"]),
    tests("CommandsTests", ["Commands", "TestSupport", "Essentials"]),
    tests("OutgoingHTTPTests", ["OutgoingHTTP"]),
    tests("KVStoreCoreTests", ["KVStoreCore", "StoreTestSupport", "TestSupport"]),
    tests("KVStoreLogTests", storage + ["KVStoreSimulation", "StoreTestSupport"]),
    tests("KVStoreLedgerTests", storage + ["KVStoreLedger", "KVStoreSimulation", "StoreTestSupport"]),
    tests("KVStoreTests", storage + ["KVStore", "KVStoreEssentials", "KVStoreSimulation", "StoreTestSupport"]),
    tests("KVStoreWireTests", ["KVStoreWire", "KVStoreCore", "TestSupport", "StoreTestSupport"]),
    tests(
        "KVStoreHTTPTests",
        [
            "KVStoreHTTP", "KVStoreWire", "KVStore", "KVStoreEssentials", "LocalFiles", nioCore, nioPosix,
        ]),
    tests(
        "KVStoreSealedTests",
        [
            "KVStoreSealed", "KVStoreTesting", "KVStore", "KVStoreCore", "TestSupport", "StoreTestSupport", crypto,
        ]),
    tests("FuzzTests", ["FuzzTargets"]),
    tests("SimulatedWorldTests", ["SimulatedWorld"]),
    tests("SimulatedCloudTests", ["KVStoreTesting", "KVStore", "KVStoreCore", "KVStoreLedger"]),
    tests(
        "EmulatorTests",
        serverTests + engine + [
            "kvs", "kvsd", "KVStore", "KVStoreHTTP", "KVStoreEmulator", "KVStoreServer", "KVStoreTesting", nioHTTP1,
        ]),
    tests(
        "KVStoreServerTests",
        serverTests + engine + [
            "KVStoreServer", "KVStorePostgreSQL", "KVStoreSimulation", crypto, logging, nioPosix, nioSSL, nioTLS,
            swiftASN1, x509,
        ]),
    tests(
        "KVStorePostgreSQLTests",
        serverTests + engine + ["KVStorePostgreSQL", "KVStoreServer", "KVStoreSimulation", logging]),
    tests(
        "KvsdTests",
        usageState + serverTests + engine + [
            "kvsd", "KVStoreServer", "KVStorePostgreSQL", "UsageServer", nioHTTP1, nioPosix, nioSSL,
        ]),
    tests("KvsTests", serverTests + ["kvs", "KVStore", "KVStoreCore", "KVStoreWire", "Commands", "SnapshotModels"]),
    tests("SnapshotModelsTests", ["SnapshotModels", "TestSupport"]),
    tests(
        "UsagePusherTests", ["UsagePusher", "SQLiteReading", "Commands", "SnapshotModels", "LocalFiles", "TestSupport"]),
    tests(
        "UsagePushTests",
        usageState + [
            "usage-push", "usage-view", "kvs", "kvsd", "UsagePusher", "KVStore", "KVStoreEssentials", "KVStoreHTTP",
            "KVStoreTesting", "LocalFiles", "OutgoingHTTP", "TerminalText", "TestSupport", "ServerTestSupport",
        ]),
    tests(
        "UsageViewTests",
        usageState + [
            "usage-view", "usage-push", "Commands", "TerminalText", "TestSupport", "KVStoreCore",
            "KVStoreEssentials", "KVStoreHTTP", "KVStoreWire",
        ]),
    tests(
        "UsageServerTests",
        usageState + serverTests + [
            "kvs", "kvsd", "usage-view", "UsageServer", "KVStoreServer", "KVStoreCore", "KVStoreWire", "Commands",
            "OutgoingHTTP", "TerminalText", crypto, nioSSL,
        ]),
    tests("ClipTests", storeCommand + ["clip", "link", "kvs", "kvsd", "KVStoreSealed", "TestSupport"]),
    tests("LinkTests", ["link", "kvs", "kvsd", "KVStoreEssentials", "KVStoreHTTP", "TestSupport"]),
    tests("TidyTests"),
)

let package = Package(
    name: "ubiquity",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        "KVStore", "KVStoreTesting", "SnapshotModels", "KVStoreHTTP", "KVStoreSealed",
        "KVStoreServer", "KVStoreEmulator", "UsagePusher",
    ].map { .library(name: $0, targets: [$0]) }
        + ["usage-push", "usage-view", "kvs", "kvsd", "clip", "link"].map {
            .executable(name: $0, targets: [$0])
        },
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
    package.targets += [
        .target(name: "CLibFuzzer", path: "Tests/Support/CLibFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzTargets", "CLibFuzzer"], path: "Tests/Support/fuzz"),
    ]
}

for target in package.targets where target.type != .system { target.swiftSettings = strict }
