// The accessors that `@NSManaged` leaves to the Objective-C runtime on Apple's platforms, under the symbols that the compiler refers to.
// A misspelled or missing symbol does not link.
#if !canImport(ObjectiveC)
internal import CoreData

extension Band {
    private static let bandIdProperty = ManagedProperty<Int64>("band_id")
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC7band_ids5Int64Vvg") final func _getBandId() -> Int64 { self[Self.bandIdProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC7band_ids5Int64Vvs")
    final func _setBandId(_ value: consuming Int64) { self[Self.bandIdProperty] = value }

    private static let nameProperty = ManagedProperty<String>("name")
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC4nameSSvg") final func _getName() -> String { self[Self.nameProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC4nameSSvs")
    final func _setName(_ value: consuming String) { self[Self.nameProperty] = value }

    private static let subdomainProperty = ManagedProperty<String?>("subdomain")
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC9subdomainSSSgvg") final func _getSubdomain() -> String? {
        self[Self.subdomainProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC9subdomainSSSgvs")
    final func _setSubdomain(_ value: consuming String?) { self[Self.subdomainProperty] = value }

    private static let urlProperty = ManagedProperty<String?>("url")
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC3urlSSSgvg") final func _getUrl() -> String? { self[Self.urlProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC3urlSSSgvs")
    final func _setUrl(_ value: consuming String?) { self[Self.urlProperty] = value }

    private static let offsiteUrlProperty = ManagedProperty<String?>("offsite_url")
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC11offsite_urlSSSgvg") final func _getOffsiteUrl() -> String? {
        self[Self.offsiteUrlProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC11offsite_urlSSSgvs")
    final func _setOffsiteUrl(_ value: consuming String?) { self[Self.offsiteUrlProperty] = value }

    private static let discographyProperty = ManagedProperty<Set<Album>>("discography")
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC11discographyShyAA5AlbumCGvg") final func _getDiscography() -> Set<Album> {
        self[Self.discographyProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp4BandC11discographyShyAA5AlbumCGvs")
    final func _setDiscography(_ value: consuming Set<Album>) { self[Self.discographyProperty] = value }
}
#endif
