// swift-tools-version: 6.1

import PackageDescription

// Classes of an application unchanged: what every compiler takes (Catalogue), and what is in a folder that the target excludes (Library).
let package = Package(
    name: "KeptClasses",
    products: [.library(name: "Library", targets: ["Library"])],
    dependencies: [.package(name: "OpenCoreData", path: "../..", traits: ["ManagedAccessors"])],
    targets: [
        .target(
            name: "Catalogue", dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ],
            plugins: [.plugin(name: "ManagedAccessors", package: "OpenCoreData")]),
        .target(
            name: "Library", dependencies: ["Catalogue", .product(name: "CoreData", package: "OpenCoreData")], exclude: ["Model"],
            plugins: [.plugin(name: "ManagedAccessors", package: "OpenCoreData")]),
        .testTarget(name: "KeptClassesTests", dependencies: ["Library", "Catalogue"]),
    ]
)
