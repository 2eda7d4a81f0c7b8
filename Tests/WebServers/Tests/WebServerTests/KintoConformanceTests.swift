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
        // Kinto keeps no more than 64 bits of a number, and the last of them is not always the one that was sent.
        let resources =
            ["Group", "Tag", "Node", "Badge", "Form"].map { WebResource($0) }
            + [WebResource("Member", properties: ["exact": .at("exact", .text), "real": .at("real", .text)])]
        let service = WebService(address, style: .kinto, resources: resources)
        return try WebStore(service, ConformanceModel.make(), Kinto.authentication).coordinator
    }

    /// Kinto's versions are times: they say which is later, and not how many are between.
    private static let applied = Behaviour.all.filter {
        $0.applies(to: store) && $0.sentence != "The version counts the edits that were saved"
    }

    @Test("Each behaviour", arguments: applied)
    func behaviour(_ behaviour: Behaviour) throws { try behaviour.run(on: Self.store) }
}
