import CoreData
import Foundation
import RemoteStore
import StoreConformance
import Testing
import WebBackend
import WebTransport

@Suite("Objects in Kinto behave as Core Data's do", .enabled(if: PythonServer.absence == nil, "Python or its packages are missing"))
struct KintoConformanceTests {
    private static let store = StoreUnderTest(
        name: "Kinto", capabilities: [.anyModel, .durable, .detectsConflicts], callCount: { Requests.of($0).count }
    ) { place in
        let collections = ["groups", "members", "tags", "nodes", "badges", "forms"]
        let bucket = "conformance-\(place.identifier.lowercased())"
        let address = try Kinto.bucket(bucket, collections)
        // A decimal number has more digits than JSON's numbers have in Kinto.
        let resources =
            ["Group", "Tag", "Node", "Badge", "Form"].map { WebResource($0) }
            + [WebResource("Member", properties: ["exact": .at("exact", .text)])]
        let service = WebService(address, style: .kinto, resources: resources)
        return try WebStore(service, ConformanceModel.make(), Kinto.authentication).coordinator
    }

    @Test("Each behaviour", arguments: Behaviour.all.filter { $0.applies(to: store) })
    func behaviour(_ behaviour: Behaviour) throws { try behaviour.run(on: Self.store) }
}
