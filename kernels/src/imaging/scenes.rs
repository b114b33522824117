//! A volume and a pair of pictures with known depth, made of formulas: the same on every machine.
//! Examples, tests and benchmarks take them at the sizes of Falch & Elster 2015, table 1, and at
//! others.

/// Two views of a scene, and how far it is away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StereoPair {
    /// What the left camera sees: gray values, row by row.
    pub left: Vec<u8>,
    /// What the right camera sees.
    pub right: Vec<u8>,
    /// How many pixels farther to the left the right camera sees what a pixel of `left` shows.
    pub disparity: Vec<u16>,
}

impl StereoPair {
    /// The number of disparities from 0 to the largest of a scene of this width, one for each 18
    /// pixels and one more.
    pub const fn disparities(width: u32) -> u32 {
        width / 18 + 1
    }
}

/// A room with a ball, a cone, a box and a smaller ball in front of a wall, as two cameras side by
/// side see it.
pub fn stereo_pair(width: u32, height: u32) -> StereoPair {
    let pixels = width as usize * height as usize;
    let mut scene = StereoPair {
        left: Vec::with_capacity(pixels),
        right: Vec::with_capacity(pixels),
        disparity: Vec::with_capacity(pixels),
    };
    let largest = (StereoPair::disparities(width) - 1) as f32;
    for y in 0..height {
        let mut row: Vec<Option<(u16, u8)>> = vec![None; width as usize];
        for x in 0..width {
            let (u, v) = (x as f32 / width as f32, y as f32 / height as f32);
            let (surface, nearness) = nearest_surface(u, v);
            let disparity = (nearness * largest).round() as u16;
            let gray = texture(x, y, surface);
            scene.left.push(gray);
            scene.disparity.push(disparity);
            // What is nearer hides what is farther away.
            if let Some(seen) = row.get_mut((x as usize).wrapping_sub(usize::from(disparity)))
                && seen.is_none_or(|(other, _)| other <= disparity)
            {
                *seen = Some((disparity, gray));
            }
        }
        // Only the right camera sees what is left: the wall.
        let wall = |x: u32| texture(x.wrapping_add(7 * width), y, WALL);
        scene.right.extend(
            (0..)
                .zip(row)
                .map(|(x, seen)| seen.map_or_else(|| wall(x), |(_, gray)| gray)),
        );
    }
    scene
}

/// Surfaces differ in brightness: these are numbers of their textures.
const WALL: u32 = 0;

/// The surface that is seen at a place of the picture, and how near it is: 1 for the largest
/// disparity.
fn nearest_surface(u: f32, v: f32) -> (u32, f32) {
    let mut nearest = (WALL, 0.12);
    let mut put = |surface: u32, nearness: Option<f32>| {
        if let Some(nearness) = nearness
            && nearness > nearest.1
        {
            nearest = (surface, nearness);
        }
    };
    let ball = |x: f32, y: f32, radius: f32, nearness: f32| {
        let inside = 1.0 - ((u - x).powi(2) + (v - y).powi(2)) / radius.powi(2);
        (inside > 0.0).then(|| nearness + 0.6 * radius * inside.sqrt())
    };
    put(1, (v > 0.62).then_some(0.12 + 1.8 * (v - 0.62)));
    put(
        2,
        ((u - 0.47).abs() < 0.1 && (v - 0.45).abs() < 0.22).then_some(0.33),
    );
    put(3, ball(0.27, 0.52, 0.19, 0.48));
    let half = (v - 0.22) * 0.28;
    let inside = 1.0 - ((u - 0.75) / half.max(1e-6)).powi(2);
    put(
        4,
        (half > 0.0 && v < 0.8 && inside > 0.0).then(|| 0.5 + half * inside.sqrt()),
    );
    put(5, ball(0.53, 0.8, 0.1, 0.86));
    nearest
}

/// The gray value of a surface: grains that differ from pixel to pixel, on spots.
fn texture(x: u32, y: u32, surface: u32) -> u8 {
    let brightness = [90, 60, 150, 110, 130, 165][surface as usize % 6];
    let grain = random(x, y, surface) % 64;
    let spot = random(x / 6, y / 6, surface + 6) % 24;
    (brightness + grain + spot) as u8
}

/// A head of `size` voxels along x, y and z, x fastest, then y: y from the crown to the neck, z
/// from the face to the back. Densities: 0 is air, about 60 skin, 110 to 130 brain, 200 bone, 20 to
/// 35 what is hollow in it.
pub fn phantom(size: [u32; 3]) -> Vec<u8> {
    let place = |at: u32, side: u32| (2.0 * at as f32 + 1.0) / side as f32 - 1.0;
    let [width, height, depth] = size;
    let mut voxels = Vec::with_capacity(width as usize * height as usize * depth as usize);
    for z in 0..depth {
        for y in 0..height {
            voxels.extend(
                (0..width).map(|x| density([place(x, width), place(y, height), place(z, depth)])),
            );
        }
    }
    voxels
}

/// The density of a place of the head; its cube reaches from -1 to 1.
fn density([x, y, z]: [f32; 3]) -> u8 {
    // Left and right are alike.
    let side = x.abs();
    let within = |x: f32, centre: [f32; 3], radii: [f32; 3]| {
        let part = |at: f32, axis: usize| ((at - centre[axis]) / radii[axis]).powi(2);
        part(x, 0) + part(y, 1) + part(z, 2) < 1.0
    };
    let neck = |radius: f32| x * x + (z - 0.15).powi(2) < radius * radius && y > 0.3;
    let skin = within(x, [0.0, -0.15, 0.02], [0.58, 0.72, 0.72])
        || within(x, [0.0, 0.32, -0.24], [0.42, 0.5, 0.46])
        || within(x, [0.0, 0.14, -0.7], [0.09, 0.17, 0.16])
        || within(side, [0.6, 0.05, 0.08], [0.07, 0.17, 0.1])
        || neck(0.3);
    if !skin {
        return 0;
    }
    let brain = within(x, [0.0, -0.15, 0.02], [0.46, 0.58, 0.58]);
    if brain {
        let ventricle = within(side, [0.1, -0.15, 0.0], [0.05, 0.11, 0.24]);
        let folds =
            (19.0 * x + 7.0 * (6.0 * y).sin()).sin() * (17.0 * z + 6.0 * (7.0 * y).cos()).sin();
        return if ventricle {
            35
        } else {
            (120.0 + 10.0 * folds) as u8
        };
    }
    if within(side, [0.2, 0.06, -0.6], [0.1, 0.1, 0.1]) {
        return 90;
    }
    let hollow = within(side, [0.2, 0.06, -0.6], [0.14, 0.12, 0.2])
        || within(x, [0.0, 0.27, -0.62], [0.07, 0.11, 0.16])
        || (y - 0.5).abs() < 0.012 && z < -0.3;
    let bone = within(x, [0.0, -0.15, 0.02], [0.52, 0.65, 0.65])
        || within(x, [0.0, 0.32, -0.24], [0.34, 0.43, 0.39])
        || within(side, [0.36, 0.17, -0.35], [0.08, 0.06, 0.25])
        || neck(0.1);
    match (bone, hollow) {
        (true, true) => 20,
        (true, false) => 200,
        _ => 60,
    }
}

/// A number that looks random; the finaliser of `MurmurHash3` mixes the bits.
fn random(x: u32, y: u32, seed: u32) -> u32 {
    let mut bits =
        x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca77) ^ seed.wrapping_mul(0xc2b2_ae3d);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    bits ^ (bits >> 16)
}
