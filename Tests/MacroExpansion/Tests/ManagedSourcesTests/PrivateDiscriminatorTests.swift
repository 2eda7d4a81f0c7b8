#if ManagedAccessors
import Testing

@testable import ManagedSources

struct PrivateDiscriminatorTests {
    @Test("A private member is told apart by the MD5 sum of its module and its file")
    func sum() {
        #expect(PrivateDiscriminator.of(file: "a.swift", in: "M") == "_2A7498D4606CCC8B86CCF92D28534D8F")
        let digest = PrivateDiscriminator.digest(Array("message digest".utf8)).map { String($0, radix: 16) }
        #expect(digest.joined() == "f96b697d7cb7938d525a2f31aaf161d0")
    }
}
#endif
