// swift-tools-version: 6.1

import PackageDescription

// A package of its own, as an application is: it enables the trait that the network needs.
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
            ], path: "Sources/ToDoModel"),
        .executableTarget(name: "todo", dependencies: ["ToDoModel"], path: "Sources/todo"),
    ]
)
