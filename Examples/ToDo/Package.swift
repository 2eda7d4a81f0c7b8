// swift-tools-version: 6.1

import PackageDescription

// A package of its own, as an application is: it enables the trait that the network needs. The demo of OpenCoreData has the sources of the
// library, too.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "ToDo",
    products: [.executable(name: "todo", targets: ["todo"]), .library(name: "ToDoModel", targets: ["ToDoModel"])],
    dependencies: [.package(name: "OpenCoreData", path: "../..", traits: ["WebBackend"])],
    targets: [
        .target(
            name: "ToDoModel",
            dependencies: [
                .product(name: "CoreData", package: "OpenCoreData"), .product(name: "RemoteStore", package: "OpenCoreData"),
                .product(name: "WebBackend", package: "OpenCoreData"),
            ], path: "Sources/ToDoModel", swiftSettings: strict),
        .executableTarget(
            name: "todo",
            dependencies: [
                "ToDoModel", .product(name: "RemoteStore", package: "OpenCoreData"), .product(name: "WebBackend", package: "OpenCoreData"),
            ], path: "Sources/todo", swiftSettings: strict),
    ]
)
