// swift-tools-version: 6.1

import CompilerPluginSupport
import PackageDescription

/// Checks of internal invariants, after every change of a structure: for the tests of this package, see CONTRIBUTING.md.
let internalChecks: [SwiftSetting] =
    Context.environment["COREDATA_INTERNAL_CHECKS"] == nil ? [] : [.define("COREDATA_INTERNAL_CHECKS")]

/// The strictness every target is built with: Swift 6 language mode (from the tools version) and these upcoming features.
let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + internalChecks

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

/// `CoreData`, and the modules that it exports: SwiftPM compiles a target anew for a change of those that it names, not of what they export.
let coreData = ["CoreData", "ArchiveStores", "Migration", "ModelFiles", "ObjectGraph", "Predicates", "SQLiteStore"]
let coreDataModules = coreData.map { Target.Dependency.byName(name: $0) }

/// An example: a library target that reads like the article it follows, and its tests.
func example(_ name: String, dependencies: [Target.Dependency] = [], resources: [Resource]? = nil) -> [Target] {
    [
        .target(
            name: name, dependencies: coreDataModules + ["ExampleSupport"] + dependencies, path: "Examples/\(name)/Sources",
            resources: resources,
            swiftSettings: strict),
        .testTarget(
            name: "\(name)Tests", dependencies: [.byName(name: name), "ExampleSupport", "SampleService", "TestSupport"] + dependencies,
            path: "Examples/\(name)/Tests",
            swiftSettings: strict),
    ]
}

let package = Package(
    name: "OpenCoreData",
    products: [
        .library(name: "CoreData", targets: coreData),
        // The object graph with its stores in memory, without SQLite.
        .library(name: "ObjectGraph", targets: ["ObjectGraph"]),
        .library(name: "CoreDataMacros", targets: ["CoreDataMacros"]),
        .library(name: "Predicates", targets: ["Predicates"]),
        // Stores over web services, databases and whatever else is described as a backend, and a kit for their tests.
        .library(name: "RemoteStore", targets: ["RemoteStore"]),
        .library(name: "RemoteStoreTesting", targets: ["RemoteStoreTesting"]),
        // Stores in CSV and JSON files that people edit.
        .library(name: "FileStores", targets: ["FileStores"]),
        // Web services, described in a few lines, as backends of a remote store.
        .library(name: "WebBackend", targets: ["WebBackend", "WebTransport"]),
        // Stores in PostgreSQL databases.
        .library(name: "PostgreSQLStore", targets: ["PostgreSQLStore"]),
        // Functions of Foundation on Apple's platforms that it lacks on others.
        .library(name: "FoundationCompatibility", targets: ["FoundationCompatibility"]),
        .library(name: "StoreConformance", targets: ["StoreConformance"]),
        // Looks into stores and models, from a terminal.
        .executable(name: "coredata", targets: ["CoreDataCommand"]),
        .plugin(name: "ModelCompiler", targets: ["ModelCompiler"]),
        .plugin(name: "ShipModels", targets: ["ShipModels"]),
        .plugin(name: "ManagedAccessors", targets: ["ManagedAccessors"]),
    ],
    traits: [
        .default(enabledTraits: []),
        .trait(name: "Macros", description: "The product CoreDataMacros: models as Swift classes. Fetches swift-syntax."),
        .trait(name: "ManagedAccessors", description: "The plugin ManagedAccessors: @NSManaged classes as they are. Fetches swift-syntax."),
        .trait(name: "YAML", description: "Descriptions of web services in YAML, without the network. Fetches Yams."),
        .trait(
            name: "WebBackend", description: "The product WebBackend: web services as stores. Fetches AsyncHTTPClient, Yams and others.",
            enabledTraits: ["YAML"]),
        .trait(name: "PostgreSQL", description: "The product PostgreSQLStore: PostgreSQL databases as stores. Needs the headers of libpq."),
        .trait(
            name: "Command",
            description: "The command coredata, with its explorer. Fetches swift-argument-parser, Hummingbird, and what WebBackend needs.",
            enabledTraits: ["WebBackend"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        // Fetched only by those who enable the trait "Macros" or "ManagedAccessors".
        .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"700.0.0"),
        // Fetched only by those who enable the trait "WebBackend".
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        // Fetched only by those who enable the trait "YAML" or "WebBackend".
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        // Fetched only by those who enable the trait "Command".
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        // Only the examples use it; SwiftPM leaves it out of packages that depend on the products.
        .package(url: "https://github.com/swhitty/FlyingFox", .upToNextMinor(from: "0.27.0")),
    ],
    targets: [
        .target(name: "Platform", swiftSettings: strict),
        .testTarget(name: "PlatformTests", dependencies: ["Platform", "TestSupport"], swiftSettings: strict),
        .target(name: "PropertyLists", dependencies: ["Platform"], swiftSettings: strict),
        .testTarget(name: "PropertyListsTests", dependencies: ["Platform", "PropertyLists", "TestSupport"], swiftSettings: strict),
        .target(name: "Predicates", dependencies: ["Platform", "PropertyLists"], swiftSettings: strict),
        .target(name: "CoreDataRuntime"),
        // Tells the object graph which stores ship, when the program is loaded.
        .target(name: "CoreDataRegistration", dependencies: ["CoreDataRuntime"]),
        // Names that no property can have. It imports nothing, for the macros use it too.
        .target(name: "TakenNames", swiftSettings: strict),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"]), .brew(["sqlite"])]),
        .target(
            name: "ObjectGraph", dependencies: ["Platform", "PropertyLists", "Predicates", "CoreDataRuntime", logging],
            swiftSettings: strict),
        .target(
            name: "ModelFiles", dependencies: ["ObjectGraph", "Platform", "PropertyLists", "Predicates", "TakenNames", logging],
            swiftSettings: strict),
        .target(name: "SQLQueries", dependencies: ["ObjectGraph", "Platform", "PropertyLists", "Predicates"], swiftSettings: strict),
        // Models over the tables of other programs, whatever the database.
        .target(
            name: "MappedTables", dependencies: ["SQLQueries", "ObjectGraph", "Platform", "PropertyLists", "Predicates", "TakenNames"],
            swiftSettings: strict),
        .target(
            name: "SQLiteStore",
            dependencies: [
                "MappedTables", "SQLQueries", "ModelFiles", "ObjectGraph", "Platform", "PropertyLists", "Predicates", "CoreDataRuntime",
                "CSQLite",
                "CZlib", logging,
            ], swiftSettings: strict),
        .testTarget(
            name: "SQLiteTablesTests",
            dependencies: coreDataModules + ["PredicateCases", "SQLQueries", "TableCases", "CSQLite", "TestSupport"],
            swiftSettings: strict),
        // Apple's XML and binary stores.
        .target(
            name: "ArchiveStores", dependencies: ["ObjectGraph", "ModelFiles", "Platform", "PropertyLists", "Predicates", logging],
            swiftSettings: strict),
        .testTarget(
            name: "ArchiveStoresTests",
            dependencies: coreDataModules + [
                "Platform", "PropertyLists", "PredicateCases", "StoreConformance", "TestSupport", "store-writer",
            ],
            swiftSettings: strict),
        .target(
            name: "Migration", dependencies: ["ObjectGraph", "ModelFiles", "Platform", "PropertyLists", "Predicates", logging],
            swiftSettings: strict),
        .testTarget(
            name: "MigrationTests",
            dependencies: coreDataModules + ["Platform", "PropertyLists", "CSQLite", "TestSupport", "WriterVersions", "store-writer"],
            swiftSettings: strict),
        // `import CoreData` gives everything above.
        .target(
            name: "CoreData",
            dependencies: ["ObjectGraph", "ModelFiles", "Predicates", "SQLiteStore", "ArchiveStores", "Migration", "CoreDataRegistration"],
            swiftSettings: strict),
        // Atomic stores over files that people edit.
        .target(
            name: "FileStores", dependencies: ["ObjectGraph", "Platform", "PropertyLists", "Predicates", "JSONReading", logging],
            swiftSettings: strict),
        .testTarget(
            name: "FileStoresTests",
            dependencies: coreDataModules + [
                "Platform", "FileStores", "JSONReading", "StoreConformance", "TestSupport", "file-store-writer",
            ],
            swiftSettings: strict),
        // Saves to files until it ends itself. Only the tests use it; it is no product.
        .executableTarget(
            name: "file-store-writer", dependencies: coreDataModules + ["Platform", "FileStores"], path: "Tests/FileStoreWriter",
            swiftSettings: strict),
        .target(name: "RemoteStore", dependencies: ["Platform", "ObjectGraph", "Predicates", logging], swiftSettings: strict),
        .target(name: "RemoteStoreTesting", dependencies: ["Platform", "RemoteStore", "ObjectGraph", "Predicates"], swiftSettings: strict),
        .testTarget(
            name: "RemoteStoreTests",
            dependencies: coreDataModules + [
                "RemoteStore", "RemoteStoreTesting", "PredicateCases", "StoreConformance", "CSQLite", "TestSupport", "store-writer",
            ],
            swiftSettings: strict),
        .systemLibrary(
            name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"]), .brew(["libpq"])]),
        .target(
            name: "PostgreSQLStore",
            dependencies: [
                "MappedTables", "SQLQueries", "ModelFiles", "ObjectGraph", "Platform", "PropertyLists", "Predicates", logging,
                .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ],
            // A save calls forty asynchronous functions. Each would ask the task first where it is to run.
            swiftSettings: strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        .testTarget(
            name: "PostgreSQLStoreTests",
            dependencies: coreDataModules + [
                "Platform", "PostgreSQLStore", "PredicateCases", "RandomPrograms", "SQLQueries", "StoreConformance", "StoreCommands",
                "Explorer",
                "TableCases", "TestSupport", "coredata-demo", logging,
            ],
            swiftSettings: strict),
        .target(name: "JSONReading", swiftSettings: strict),
        .testTarget(name: "JSONReadingTests", dependencies: ["JSONReading", "TestSupport"], swiftSettings: strict),
        .target(
            name: "WebTransport",
            dependencies: [
                "Platform", "PropertyLists", logging,
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["WebBackend"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["WebBackend"])),
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["WebBackend"])),
            ], swiftSettings: strict),
        .testTarget(name: "WebTransportTests", dependencies: ["Platform", "WebTransport", "TestSupport"], swiftSettings: strict),
        .target(
            name: "WebBackend",
            dependencies: [
                "RemoteStore", "ObjectGraph", "Predicates", "Platform", "PropertyLists", "JSONReading", "WebTransport", logging,
                .product(name: "Yams", package: "Yams", condition: .when(traits: ["YAML"])),
            ], swiftSettings: strict),
        .testTarget(
            name: "WebBackendTests",
            dependencies: coreDataModules + [
                "WebBackend", "WebTransport", "JSONReading", "RemoteStore", "RemoteStoreTesting", "StoreConformance", "TestSupport",
                logging,
            ],
            swiftSettings: strict),
        // What the command `coredata` does. Its folder `Commands` alone imports ArgumentParser.
        .target(
            name: "StoreCommands",
            dependencies: coreDataModules + [
                "Platform", "PropertyLists", "SQLQueries", "FileStores", "JSONReading", "RemoteStore", "WebBackend", "WebTransport",
                "PostgreSQLStore",
                logging, .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"])),
            ], swiftSettings: strict),
        // What the pages of `coredata serve` ask, answered as values.
        .target(
            name: "Explorer", dependencies: coreDataModules + ["StoreCommands", "Platform", "PropertyLists", "SQLQueries", logging],
            swiftSettings: strict),
        // The explorer over HTTP, with its pages. It alone imports Hummingbird.
        .target(
            name: "ExplorerServer",
            dependencies: [
                "Explorer", "StoreCommands", logging,
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Command"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Command"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Command"])),
            ], resources: [.embedInCode("Web")], swiftSettings: strict),
        // The WebDriver client and the tests of the explorer in a browser are here, too.
        .testTarget(
            name: "ExplorerTests",
            dependencies: coreDataModules + ["Explorer", "ExplorerServer", "StoreCommands", "WebTransport", "CSQLite", "TestSupport"],
            swiftSettings: strict),
        // Not named as its product: where the file system ignores case, `CoreData` has that name.
        .executableTarget(
            name: "CoreDataCommand",
            dependencies: [
                "StoreCommands", "ExplorerServer", "Explorer",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"])),
            ], swiftSettings: strict),
        .testTarget(
            name: "StoreCommandsTests",
            dependencies: coreDataModules + [
                "StoreCommands", "FileStores", "JSONReading", "Platform", "PropertyLists", "RemoteStore", "WebBackend", "WebTransport",
                "CSQLite",
                "TestSupport", "CoreDataCommand",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"])),
            ], swiftSettings: strict),
        .target(name: "FoundationCompatibility", dependencies: ["ObjectGraph"], swiftSettings: strict),
        .testTarget(
            name: "FoundationCompatibilityTests", dependencies: coreDataModules + ["FoundationCompatibility"], swiftSettings: strict),
        .macro(
            name: "CoreDataMacroPlugin",
            dependencies: [
                "TakenNames",
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax", condition: .when(traits: ["Macros"])),
            ], swiftSettings: strict),
        .target(name: "CoreDataMacros", dependencies: coreDataModules + ["CoreDataMacroPlugin"], swiftSettings: strict),
        .testTarget(
            name: "CoreDataMacroTests", dependencies: coreDataModules + ["CoreDataMacros"], exclude: ["Models"], swiftSettings: strict),
        .target(
            name: "ManagedSources",
            dependencies: [
                .product(name: "SwiftParser", package: "swift-syntax", condition: .when(traits: ["ManagedAccessors"])),
                .product(name: "SwiftSyntax", package: "swift-syntax", condition: .when(traits: ["ManagedAccessors"])),
            ],
            swiftSettings: strict),
        .executableTarget(name: "ManagedAccessorsTool", dependencies: ["ManagedSources"], swiftSettings: strict),
        .plugin(name: "ManagedAccessors", capability: .buildTool(), dependencies: ["ManagedAccessorsTool"]),
        .target(name: "StoreConformance", dependencies: coreDataModules + ["Platform"], swiftSettings: strict),
        // The plugin that compiles Core Data models. Nothing of it may depend on swift-syntax, nor on a store: all of it is compiled a second time, for the host.
        .target(
            name: "ModelCodeGeneration",
            dependencies: ["ObjectGraph", "ModelFiles", "Migration", "Predicates", "Platform", "PropertyLists", "TakenNames"],
            swiftSettings: strict),
        .executableTarget(name: "ModelCompilerTool", dependencies: ["ModelCodeGeneration"], swiftSettings: strict),
        .plugin(name: "ModelCompiler", capability: .buildTool(), dependencies: ["ModelCompilerTool"]),
        // Notes versions of models as shipped.
        .plugin(
            name: "ShipModels",
            capability: .command(
                intent: .custom(verb: "ship-models", description: "Notes the versions of the package's models as shipped."),
                permissions: [.writeToPackageDirectory(reason: "To write VersionHashes.lock into the bundles of models.")]),
            dependencies: ["ModelCompilerTool"]),
        .testTarget(
            name: "ModelCodeGenerationTests", dependencies: coreDataModules + ["ModelCodeGeneration", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "StoreConformanceTests",
            dependencies: coreDataModules + ["StoreConformance", "Guide", "Songs", "TestSupport", "store-writer"],
            swiftSettings: strict),
        // Seeds, time and scratch folders of tests; it is no product.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(name: "TestSupportTests", dependencies: ["TestSupport"], swiftSettings: strict),
        // What is saved to tables of other programs, whatever the database; it is no product.
        .target(name: "TableCases", dependencies: coreDataModules + ["TestSupport"], path: "Tests/TableCases", swiftSettings: strict),
        // Random predicates, for the tests of whatever reads predicates; it is no product.
        .target(name: "PredicateCases", dependencies: ["Predicates", "TestSupport"], path: "Tests/PredicateCases", swiftSettings: strict),
        .testTarget(
            name: "PredicatesTests", dependencies: ["Predicates", "Platform", "PropertyLists", "PredicateCases", "TestSupport"],
            swiftSettings: strict),
        // Random programs over several contexts, and clients that work on one store, for the tests of stores; it is no product.
        .target(
            name: "RandomPrograms", dependencies: coreDataModules + ["TestSupport"], path: "Tests/RandomPrograms", swiftSettings: strict),
        .testTarget(
            name: "CoreDataTests",
            dependencies: coreDataModules + [
                "Platform", "PropertyLists", "SQLQueries", "PredicateCases", "RandomPrograms", "CSQLite", "TestSupport", "store-writer",
            ],
            swiftSettings: strict),
        // Versions of a model, for the tests of migrations and the program that they kill; it is no product.
        .target(name: "WriterVersions", dependencies: coreDataModules, path: "Tests/WriterVersions", swiftSettings: strict),
        // Writes to a store until it is killed. Only the tests use it; it is no product.
        .executableTarget(
            name: "store-writer",
            dependencies: coreDataModules + ["Platform", "RemoteStore", "RemoteStoreTesting", "StoreConformance", "WriterVersions"],
            path: "Tests/StoreWriter",
            swiftSettings: strict),
        .target(
            name: "ExampleSupport", dependencies: coreDataModules + ["WebTransport"], path: "Examples/Support/Sources",
            swiftSettings: strict),
        .testTarget(
            name: "ExampleSupportTests", dependencies: ["ExampleSupport"], path: "Examples/Support/Tests", swiftSettings: strict),
        .target(
            name: "SampleService", dependencies: ["ExampleSupport", .product(name: "FlyingFox", package: "FlyingFox")],
            path: "Examples/SampleService/Sources", swiftSettings: strict),
        .testTarget(
            name: "SampleServiceTests", dependencies: ["SampleService"], path: "Examples/SampleService/Tests", swiftSettings: strict),
    ]
        + example("Bandcamp", dependencies: ["RemoteStore", "WebBackend", "WebTransport"])
        + example("Palettes", dependencies: ["RemoteStore", "WebBackend", "WebTransport"], resources: [.copy("Resources")])
        + example("GitHub", dependencies: ["RemoteStore", "WebBackend", "WebTransport"], resources: [.copy("Resources")])
        + example("Songs", dependencies: ["FileStores"], resources: [.copy("Resources")])
        + example("Guide")
        + [
            // Examples/ToDo is a package of its own, too, which has the command over it.
            .target(
                name: "ToDoModel", dependencies: coreDataModules + ["RemoteStore", "WebBackend", "WebTransport"],
                path: "Examples/ToDo/Sources/ToDoModel", swiftSettings: strict),
            .testTarget(
                name: "ToDoTests",
                dependencies: coreDataModules + [
                    "ToDoModel", "ExampleSupport", "SampleService", "RemoteStore", "WebTransport", "TestSupport",
                ],
                path: "Examples/ToDo/Tests", swiftSettings: strict),
            .executableTarget(
                name: "coredata-demo",
                dependencies: [
                    "Bandcamp", "Palettes", "Songs", "ToDoModel", "SampleService", "ExampleSupport", "RemoteStore", "WebBackend",
                    "WebTransport", "PostgreSQLStore",
                ],
                path: "Examples/Demo",
                exclude: ["README.md", "Tests"], swiftSettings: strict),
            .testTarget(
                name: "DemoTests", dependencies: ["coredata-demo", "SampleService", "TestSupport"], path: "Examples/Demo/Tests",
                swiftSettings: strict),
        ]
)

// Tests over real servers are a package of their own, so that nobody else needs Python or waits for the network. They are targets of this one where the
// variable is set: the modules that they share with everything else are compiled once.
if Context.environment["COREDATA_WEB_SERVERS"] != nil {
    package.targets += [
        .executableTarget(
            name: "kinto-writer", dependencies: coreDataModules + ["RemoteStore", "WebBackend", "WebTransport"],
            path: "Tests/WebServers/Sources/KintoWriter", swiftSettings: strict),
        .executableTarget(
            name: "todo", dependencies: coreDataModules + ["ToDoModel", "RemoteStore", "WebBackend", "WebTransport"],
            path: "Examples/ToDo/Sources/todo", swiftSettings: strict),
        .testTarget(
            name: "WebServerTests",
            dependencies: coreDataModules + ["RemoteStore", "WebBackend", "WebTransport", "StoreConformance", "kinto-writer", "todo"],
            path: "Tests/WebServers/Tests/WebServerTests", exclude: ["Servers"], swiftSettings: strict),
    ]
}

// A part of the package, for the work at one module and for checks that build a few targets in another way: the targets that the variable names, with
// all that they need; or, where each name follows a minus sign, all targets but those.
if let wanted = Context.environment["COREDATA_TARGETS"], !wanted.isEmpty {
    let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    func target(_ name: String) -> Target {
        guard let target = targets[name] else { fatalError("COREDATA_TARGETS: the package has no target “\(name)”.") }
        return target
    }
    let names = wanted.split(separator: ",").map(String.init)
    let without = names.filter { $0.hasPrefix("-") }.map { target(String($0.dropFirst())).name }
    let chosen = without.count < names.count ? names.filter { !$0.hasPrefix("-") } : package.targets.map(\.name)
    var waiting = chosen.filter { !without.contains($0) }
    var kept: Set<String> = []
    while let name = waiting.popLast() {
        let target = target(name)
        guard kept.insert(name).inserted else { continue }
        for dependency in target.dependencies {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): waiting.append(name)
            default: break
            }
        }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products.removeAll { product in
        switch product {
        case let library as Product.Library: !kept.isSuperset(of: library.targets)
        case let program as Product.Executable: !kept.isSuperset(of: program.targets)
        case let plugin as Product.Plugin: !kept.isSuperset(of: plugin.targets)
        default: true
        }
    }
}
