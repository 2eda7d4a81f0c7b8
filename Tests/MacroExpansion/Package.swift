// swift-tools-version: 6.1

import CompilerPluginSupport
import PackageDescription

/// As in the package above, with its traits.
let strict: [SwiftSetting] = [
    .define("Macros"), .define("ManagedAccessors"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// The tests of what reads and writes Swift sources: the macros' source text and diagnostics, and the accessors of `@NSManaged` classes. They are a package of
// their own because SwiftPM builds a test product that links a macro for the host: in the package above, every module and every test would be compiled a second
// time; and because swift-syntax would be compiled there for both.
let package = Package(
    name: "MacroExpansion",
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"700.0.0")],
    targets: [
        .target(name: "TakenNames", swiftSettings: strict),
        .target(name: "TestSupport", swiftSettings: strict),
        .macro(
            name: "CoreDataMacroPlugin",
            dependencies: [
                "TakenNames",
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ], swiftSettings: strict),
        .target(
            name: "ManagedSources",
            dependencies: [
                .product(name: "SwiftParser", package: "swift-syntax"), .product(name: "SwiftSyntax", package: "swift-syntax"),
            ], swiftSettings: strict),
        .testTarget(name: "ManagedSourcesTests", dependencies: ["ManagedSources", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "CoreDataMacroPluginTests",
            dependencies: ["CoreDataMacroPlugin", .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax")],
            swiftSettings: strict),
    ]
)
